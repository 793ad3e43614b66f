package import AppStoreTestSupport
import AsyncHTTPClient
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import OfferCore
import OfferEligibility

/// Apple's performance test of a service that answers requests for retention messages.
package struct PerformanceTest: Sendable {
    package struct Settings: Sendable {
        package var concurrency = 10
        package var requests = 100
        /// In milliseconds, like the threshold. The requests are spread over it.
        package var duration = 60_000
        package var threshold = 700
        /// In percent.
        package var successRate = 98

        package init() {}

        var json: [UInt8] {
            var writer = JSONWriter()
            writer.member("maxConcurrentRequests", Int64(concurrency))
            writer.member("totalRequests", Int64(requests))
            writer.member("totalDuration", Int64(duration))
            writer.member("responseTimeThreshold", Int64(threshold))
            writer.member("successRateThreshold", Int64(successRate))
            return writer.finish()
        }
    }

    /// What became of the requests so far.
    package struct Result: Sendable {
        package let settings: Settings
        package let target: String
        /// In milliseconds, of the requests that were answered.
        package fileprivate(set) var times: [Int] = []
        package fileprivate(set) var successes = 0
        /// By Apple's name of the result.
        package fileprivate(set) var failures: [String: Int] = [:]

        init(_ settings: Settings, target: String) {
            self.settings = settings
            self.target = target
        }

        package var pending: Int { settings.requests - successes - failures.values.reduce(0, +) }
        package var rate: Int { successes * 100 / max(1, successes + failures.values.reduce(0, +)) }
        package var outcome: String { pending > 0 ? "PENDING" : rate >= settings.successRate ? "PASS" : "FAIL" }

        /// Apple's result object.
        package var json: [UInt8] {
            var writer = JSONWriter()
            writer.rawValue("config", settings.json)
            writer.member("target", target)
            writer.member("result", outcome)
            writer.member("successRate", Int64(rate))
            writer.member("numPending", Int64(pending))
            writer.object("responseTimes") { writer in
                let sorted = times.sorted()
                writer.member("average", Int64(sorted.isEmpty ? 0 : sorted.reduce(0, +) / sorted.count))
                for percent in [50, 90, 95, 99] {
                    writer.member("p\(percent)", Int64(Self.percentile(percent, of: sorted)))
                }
            }
            writer.object("failures") { writer in
                for (name, count) in failures.sorted(by: { $0.key < $1.key }) { writer.member(name, Int64(count)) }
            }
            return writer.finish()
        }

        private static func percentile(_ percent: Int, of sorted: [Int]) -> Int {
            sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, sorted.count * percent / 100)]
        }
    }

    private let world: StandInWorld
    private let target: String
    private let settings: Settings
    private let now: @Sendable () -> Int64
    /// The subscriptions that the requests are about, in turn.
    private let subscriptions: [(id: String, product: String)]

    package init(
        _ settings: Settings, world: StandInWorld, target: String, subscriptions: [(id: String, product: String)],
        now: @escaping @Sendable () -> Int64
    ) {
        self.settings = settings
        self.world = world
        self.target = target
        self.subscriptions = subscriptions
        self.now = now
    }

    /// Sends all requests.
    /// - Parameter progress: called with the result after each.
    package func run(progress: @escaping @Sendable (Result) -> Void = { _ in }) async -> Result {
        var configuration = HTTPClient.Configuration()
        // Otherwise requests would wait for each other's connections, and that time would count.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = settings.concurrency
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let result = NIOLockedValueBox(Result(settings, target: target))
        let pause = Double(settings.duration) / Double(max(1, settings.requests))
        let began = ContinuousClock.now
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<settings.requests {
                if number >= settings.concurrency { await group.next() }
                let start = began + .microseconds(Int64(Double(number) * pause * 1000))
                try? await Task.sleep(until: start, clock: .continuous)
                group.addTask {
                    let (outcome, time) = await ask(number, client)
                    progress(
                        result.withLockedValue { result in
                            if let time { result.times.append(time) }
                            if outcome == "SUCCESS" {
                                result.successes += 1
                            } else {
                                result.failures[outcome, default: 0] += 1
                            }
                            return result
                        })
                }
            }
        }
        try? await client.shutdown()
        return result.withLockedValue { $0 }
    }

    /// - Returns: Apple's name of the result, and the time in milliseconds; nil without an answer.
    private func ask(_ number: Int, _ client: HTTPClient) async -> (outcome: String, time: Int?) {
        let subscription = subscriptions[number % subscriptions.count]
        var view = StandInWorld.PageView(
            originalTransactionID: subscription.id, productID: subscription.product,
            requestIdentifier: UUID().uuidString)
        view.locale = ["en-US", "de-DE", "pt_BR"][number % 3]
        guard let body = try? world.retentionRequest(view, at: now()) else { return ("OTHER", nil) }
        var request = HTTPClientRequest(url: target)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.body = .bytes(ByteBuffer(string: body))
        let began = ContinuousClock.now
        guard let response = try? await client.execute(request, timeout: .seconds(10)),
            let answer = try? await response.body.collect(upTo: 65_536)
        else { return ("NO_RESPONSE", nil) }
        let time = Int((ContinuousClock.now - began) / .milliseconds(1))
        guard response.status == .ok else { return ("UNSUCCESSFUL_HTTP_RESPONSE_CODE", time) }
        guard RealtimeAnswer.isValid(Array(buffer: answer)) else { return ("INVALID_RESPONSE", time) }
        return (time <= settings.threshold ? "SUCCESS" : "TIMED_OUT", time)
    }
}
