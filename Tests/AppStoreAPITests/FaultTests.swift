import AppStoreAPI
import AppStoreStandIn
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import OfferCore
import OfferEligibility
import Testing

@Suite("The client of the App Store Server API survives what the App Store does")
struct FaultTests {
    @Test("each of the 87 error codes has a name and a sentence, and is passed on")
    func codes() async throws {
        let fixture = try await StandInFixture()
        let id = try fixture.subscription
        let codes = APIErrorCode.allKnown
        #expect(codes.count == 87 && Set(codes.map(\.name)).count == 87)
        try await fixture.withClient { client in
            for code in codes {
                #expect(code.name != "unknown" && code.sentence.hasSuffix("."))
                guard code != .rateLimitExceeded, !code.isRetryable else { continue }
                fixture.standIn.faults.add(.error(code.rawValue))
                let failure = await #expect(throws: APIFailure.self) {
                    try await client.send(.subscriptionStatuses(of: id), for: StandInFixture.app)
                }
                guard case .refused(code)? = failure else {
                    Issue.record("\(code) came as \(String(describing: failure))")
                    continue
                }
            }
            #expect(fixture.delays.withLockedValue { $0 }.isEmpty, "none of them is asked again")
        }
    }

    @Test(
        "a failure that may pass is asked again, twice as long each time",
        arguments: [
            Fault.error(4_040_002), .error(4_040_004), .error(4_040_006), .error(5_000_000), .error(5_000_001),
            .status(503), .reset, .half,
        ])
    func retries(fault: Fault) async throws {
        let fixture = try await StandInFixture()
        let id = try fixture.subscription
        fixture.standIn.faults.add(fault, count: 3)
        try await fixture.withClient { client in
            _ = try await client.send(.subscriptionStatuses(of: id), for: StandInFixture.app)
            #expect(fixture.delays.withLockedValue { $0 } == [.milliseconds(250), .milliseconds(500), .seconds(1)])
            let outcomes = fixture.observations.withLockedValue { $0.map(\.outcome) }
            #expect(outcomes.count == 4 && outcomes.last == "success")
        }
    }

    @Test("a failure that stays is reported after four attempts")
    func givesUp() async throws {
        let fixture = try await StandInFixture()
        let id = try fixture.subscription
        fixture.standIn.faults.add(.error(5_000_001), count: 9)
        try await fixture.withClient { client in
            let failure = await #expect(throws: APIFailure.self) {
                try await client.send(.subscriptionStatuses(of: id), for: StandInFixture.app)
            }
            #expect(failure?.name == "general_internal_retryable")
            #expect(fixture.standIn.statistics.requests("subscription_statuses") == 4)
        }
    }

    @Test("a host that fails is left alone for a moment")
    func pause() async throws {
        let fixture = try await StandInFixture()
        let id = try fixture.subscription
        fixture.standIn.faults.add(.status(500), count: 99)
        try await fixture.withClient { client in
            var names: [String] = []
            for _ in 0..<3 {
                let failure = await #expect(throws: APIFailure.self) {
                    try await client.send(.subscriptionStatuses(of: id), for: StandInFixture.app)
                }
                names.append(failure?.name ?? "")
            }
            #expect(names == ["http_status", "paused", "paused"])
            #expect(fixture.standIn.statistics.requests("subscription_statuses") == 5)
        }
    }

    @Test("429 closes the endpoint until the time in Retry-After, for that endpoint alone")
    func limited() async throws {
        let fixture = try await StandInFixture()
        let id = try fixture.subscription
        fixture.standIn.faults.add(.limited(90_000))
        try await fixture.withClient { client in
            let before = Timestamp(Date()).milliseconds
            var times: [Int64] = []
            for _ in 0..<2 {
                let failure = await #expect(throws: APIFailure.self) {
                    try await client.send(.subscriptionStatuses(of: id), for: StandInFixture.app)
                }
                guard case .limited(let time)? = failure else { throw CocoaError(.coderInvalidValue) }
                times.append(time.milliseconds)
            }
            let after = Timestamp(Date()).milliseconds
            #expect(times[0] == times[1] && (before + 90_000...after + 90_000).contains(times[0]))
            #expect(fixture.standIn.statistics.requests("subscription_statuses") == 1)
            _ = try await client.send(.transactionInfo(of: id), for: StandInFixture.app)
        }
    }

    @Test("the budget of an hour is never exceeded")
    func budget() async throws {
        let fixture = try await StandInFixture()
        let id = try fixture.subscription
        let time = Timestamp(Date())
        try await fixture.withClient(limitScale: 0.001, now: { time }) { client in
            var sent = 0
            for _ in 0..<50
            where (try? await client.send(.subscriptionStatuses(of: id), for: StandInFixture.app)) != nil {
                sent += 1
            }
            #expect(sent == 10, "what a new process begins with")
            #expect(fixture.standIn.statistics.requests("subscription_statuses") == 10)
        }
    }

    @Test("an answer of 50 MB, or one that is not JSON, is refused", arguments: [Fault.large(50_000_000), .malformed])
    func unreadable(fault: Fault) async throws {
        let fixture = try await StandInFixture()
        let id = try fixture.subscription
        fixture.standIn.faults.add(fault)
        try await fixture.withClient { client in
            let failure = await #expect(throws: APIFailure.self) {
                try await client.send(.subscriptionStatuses(of: id), for: StandInFixture.app)
            }
            #expect(failure?.name == "unreadable")
        }
    }

    @Test("a certificate of another authority is refused", arguments: [true, false])
    func certificate(isStrange: Bool) async throws {
        let fixture = try await StandInFixture()
        let id = try fixture.subscription
        try await fixture.withClient(url: isStrange ? fixture.standIn.strangeURL : nil, trusted: isStrange) { client in
            let failure = await #expect(throws: APIFailure.self) {
                try await client.send(.subscriptionStatuses(of: id), for: StandInFixture.app)
            }
            #expect(failure?.description.contains("TLS") == true)
            #expect(fixture.standIn.statistics.requests("subscription_statuses") == 0)
        }
    }

    @Test("a server that never answers does not hold up longer than the deadline")
    func silence() async throws {
        let fixture = try await StandInFixture()
        let id = try fixture.subscription
        fixture.standIn.faults.add(.silence)
        try await fixture.withClient { client in
            let failure = await #expect(throws: APIFailure.self) {
                try await client.send(
                    .subscriptionStatuses(of: id), for: StandInFixture.app, by: .now() + .milliseconds(100))
            }
            #expect(failure?.name == "timed_out")
        }
    }
}
