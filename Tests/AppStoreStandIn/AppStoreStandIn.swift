package import AppStoreTestSupport
import Foundation
import NIOConcurrencyHelpers
import OfferCore
package import OfferCrypto
package import TestSupport

/// A stand-in for the App Store over real TLS: generated customers, the App Store Server API, and notifications.
///
/// It is for tests and demonstrations. Its keys are throw-away, and what it signs counts only where its root is trusted.
package final class AppStoreStandIn: Sendable {
    package struct Settings: Sendable {
        package var production = StandInWorld.Settings()
        package var sandbox = StandInWorld.Settings()
        /// The keys that the App Store knows, by ID.
        package var keys: [String: SigningKey] = [:]
        package var issuerID = "57246542-96fe-1a63-e053-0824d011072a"
        package var posting = Poster.Settings()
        /// The shared secret of the app, for receipts.
        package var sharedSecret = "0123456789abcdef0123456789abcdef"
        /// What a performance test of retention messages demands.
        package var performanceTest = PerformanceTest.Settings()
        /// 0 for any free port.
        package var port = 0
        package var sandboxPort = 0
        /// In milliseconds.
        package var now: @Sendable () -> Int64

        /// - Parameter now: the clock of the stand-in, in milliseconds since 1970.
        package init(now: @escaping @Sendable () -> Int64) {
            self.now = now
            sandbox.environment = "Sandbox"
        }
    }

    package let production: StandInWorld
    package let sandbox: StandInWorld
    package let posters: [Poster]
    /// What the team has set up for retention messages, in production and in the sandbox.
    package let retention: [RetentionDesk]
    package let faults = Faults()
    package let statistics = Statistics()
    package let tokens: TokenCheck
    package let tls: TLSCertificates
    /// The file for `SUBSCRIPTION_OFFERS_APP_STORE_ROOTS`.
    package let dataRootPath: String
    private let settings: Settings
    private let customers: CustomerDesk
    private let servers: NIOLockedValueBox<[TLSServer]>

    /// Makes what is missing in a folder, and listens.
    package init(_ settings: Settings, folder: String) async throws {
        self.settings = settings
        let chain = folder + "/chain"
        if (try? NotificationSigner(folder: chain)) == nil { try NotificationSigner.make(in: chain) }
        dataRootPath = chain + "/" + NotificationSigner.rootFile
        tls = try TLSCertificates(folder: folder + "/tls")
        let strange = try TLSCertificates(folder: folder + "/strange-tls")
        let now = settings.now
        production = try StandInWorld(settings.production, start: now(), folder: chain)
        sandbox = try StandInWorld(settings.sandbox, start: now(), folder: chain)
        let posters = [production, sandbox].map { Poster($0, settings.posting, now: now) }
        self.posters = posters
        tokens = TokenCheck(
            keys: settings.keys, issuerID: settings.issuerID, bundleID: settings.production.bundleID)
        servers = NIOLockedValueBox([])
        customers = CustomerDesk(
            world: production, check: OfferCheck(bundleID: settings.production.bundleID, keys: settings.keys), now: now
        ) { notification in
            posters[0].add([notification], mayBeLost: false)
            Task { await posters[0].post() }
        }
        let hasPassed = NIOLockedValueBox(false)
        let retention = [production, sandbox].map { world in
            RetentionDesk(world, test: settings.performanceTest, hasPassed: hasPassed, now: now)
        }
        self.retention = retention
        let answers = zip(zip([production, sandbox], retention), posters).map { world, poster in
            let (world, retention) = world
            return Answers(
                world: world, others: world === production ? sandbox : production, sharedSecret: settings.sharedSecret,
                limits: HourlyLimits(isSandbox: world === sandbox), retention: retention, now: now
            ) { notification in
                poster.add([notification])
                Task { await poster.post() }
            }
        }
        let listeners = [
            (tls, settings.port, answers[0]), (tls, settings.sandboxPort, answers[1]), (strange, 0, answers[0]),
        ]
        for (certificates, port, answers) in listeners {
            let server = try await TLSServer(certificates, port: port) { [weak self] request in
                await self?.answer(request, answers) ?? StandInResponse(status: 503)
            }
            servers.withLockedValue { $0.append(server) }
        }
    }

    package var productionURL: String { servers.withLockedValue { $0[0].url } }
    package var sandboxURL: String { servers.withLockedValue { $0[1].url } }
    /// The production server with a certificate of an authority that is not trusted.
    package var strangeURL: String { servers.withLockedValue { $0[2].url } }

    /// Lets the customers live until now, and makes the attempts to post that are due.
    package func advance() async {
        for (world, poster) in zip([production, sandbox], posters) {
            poster.add(world.advance(to: settings.now()))
            await poster.post()
        }
    }

    package func stop() async {
        for server in servers.withLockedValue({ $0 }) { await server.stop() }
        for poster in posters { await poster.stop() }
    }

    private func answer(_ request: StandInRequest, _ answers: Answers) async -> StandInResponse {
        let (endpoint, transaction) = Answers.endpoint(of: request)
        let fault = faults.take(endpoint)
        if case .delay(let milliseconds)? = fault { try? await Task.sleep(for: .milliseconds(milliseconds)) }
        let response = response(to: request, endpoint, fault, answers)
        if fault == .silence { try? await Task.sleep(for: .seconds(3600)) }
        statistics.note(endpoint, response.status, transaction: transaction)
        return response
    }

    private func response(
        to request: StandInRequest, _ endpoint: String, _ fault: Fault?, _ answers: Answers
    ) -> StandInResponse {
        if let (customer, step) = CustomerDesk.names(of: request) {
            return Self.response { try customers.answer(request, customer, step) }
        }
        guard endpoint == "verify_receipt" || tokens.accepts(request.authorization, at: settings.now()) else {
            return StandInResponse(status: 401)
        }
        if let time = answers.limits.exceeded(by: endpoint, at: settings.now()) { return Self.limited(until: time) }
        switch fault {
        case .error(let code)?: return Self.refusal(StandInWorld.Refusal(code, "Generated error."))
        case .status(let status)?: return StandInResponse(status: status)
        case .limited(let milliseconds)?: return Self.limited(until: settings.now() + Int64(milliseconds))
        case .clock(let seconds)?:
            let date = Self.httpDate(settings.now() + Int64(seconds) * 1000)
            return StandInResponse(status: 401, headers: [("Date", date)])
        case .reset?: return StandInResponse(delivery: .none)
        case .large(let count)?: return StandInResponse(body: Array(repeating: UInt8(ascii: " "), count: count))
        case .malformed?: return StandInResponse(body: Array(#"{"data":["#.utf8))
        case .delay?, .half?, .anotherApp?, .silence?, nil: break
        }
        return Self.response(fault == .half ? .half : .whole) { try answers.answer(request, fault: fault) }
    }

    private static func response(
        _ delivery: StandInResponse.Delivery = .whole, _ body: () throws -> [UInt8]
    ) -> StandInResponse {
        do { return StandInResponse(body: try body(), delivery: delivery) } catch let refusal as StandInWorld.Refusal {
            return Self.refusal(refusal)
        } catch is StandInWorld.NoSubscription {
            return Self.refusal(StandInWorld.Refusal(4_040_000, "No customer with this name has subscribed."))
        } catch {
            return Self.refusal(StandInWorld.Refusal(5_000_000, "\(error)"))
        }
    }

    /// - Parameter time: when requests are answered again, in milliseconds.
    private static func limited(until time: Int64) -> StandInResponse {
        var response = refusal(StandInWorld.Refusal(4_290_000, "Rate limit exceeded."))
        response.headers = [("Retry-After", "\(time)")]
        return response
    }

    /// - Parameter time: in milliseconds.
    package static func httpDate(_ time: Int64) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = .gmt
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.string(from: Date(timeIntervalSince1970: Double(time / 1000)))
    }

    private static func refusal(_ refusal: StandInWorld.Refusal) -> StandInResponse {
        var writer = JSONWriter()
        writer.member("errorCode", refusal.code)
        writer.member("errorMessage", refusal.message)
        return StandInResponse(status: refusal.status, body: writer.finish())
    }
}
