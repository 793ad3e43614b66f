import Foundation
import NIOConcurrencyHelpers
import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferHTTP
import StoreTestSupport
import SubscriberStore
import TestSupport

@testable import AppStoreTestSupport
@testable import OfferService

/// Messages for customers who are about to cancel, and requests of the App Store for them.
enum Retention {
    /// A message identifier for tests, as the service writes it.
    static func message(_ number: Int) -> String {
        "0000000\(number)-0000-4000-8000-000000000000"
    }

    static let offers = """
        plain, {offerID: keep, rule: win_back, limits: {perCustomer: 1, outstanding: 5}},
        {offerID: second, limits: {perCustomer: 3}}
        """

    /// An offer for those with auto-renew off, another plan for those who watch little, and a message for everyone else.
    static let cases = """
        - rule: retention
          promotionalOffer: {productID: monthly, offerID: keep, message: \(message(1))}
        - rule: light
          alternateProduct: {productID: basic, message: \(message(2))}
        - message: {de-DE: \(message(3)), de: \(message(4)), default: \(message(5))}
        """

    static let rules = "light: {fact: {name: episodesWatched, atMost: 3}}"

    /// A response to a message.
    static func shown(_ number: Int) -> String { #"{"message":{"messageIdentifier":"\#(message(number))"}}"# }

    /// A request as the App Store signs it.
    struct Request {
        var payload = SamplePayload.retentionRequest.with("originalTransactionId", #""1000""#)
            .with("productId", #""monthly""#)
        var chain: TestChain?

        init(_ number: Int = 1, at date: Timestamp = Sample.day(10)) {
            payload = payload.with("requestIdentifier", "\"3DB5C98D-8ACF-4E29-831E-\(100_000_000_000 + number)\"")
                .with("signedDate", "\(date.milliseconds)")
        }

        func with(_ name: String, _ json: String) -> Request {
            var copy = self
            copy.payload = payload.with(name, json)
            return copy
        }

        func body() throws -> String {
            let chain = try chain ?? TestChain.standard.get()
            return #"{"signedPayload":"\#(try chain.jws(payload))"}"#
        }
    }
}

extension StoreService {
    /// A service with cases of retention messages.
    /// - Parameters:
    ///   - cases: lines of YAML.
    ///   - app: further members of the app.
    static func retention(
        _ cases: String = Retention.cases, offers: String = Retention.offers, app: String = "appAppleID: 1234567890",
        rules: String = Retention.rules, hasIssuerID: Bool = true, deadline: Duration = .seconds(3600),
        parts: (inout Application.Dependencies) -> Void = { _ in }
    ) throws -> StoreService {
        let lines = cases.split(separator: "\n").map { "      " + $0 }.joined(separator: "\n")
        let service = try StoreService(
            offers, app: app + "\n    retention:\n" + lines, rules: rules, hasIssuerID: hasIssuerID
        ) {
            $0.retentionDeadline = deadline
            parts(&$0)
        }
        // It runs until the process ends, because requests may use it after the last reference to this object.
        Task { [work = service.routes.detachedWork] in try await work.run() }
        return service
    }

    /// A service with cases of retention messages, and a subscriber with auto-renew off.
    static func retentionWithAutoRenewOff(
        _ cases: String = Retention.cases, offers: String = Retention.offers, deadline: Duration = .seconds(3600)
    ) async throws -> StoreService {
        let service = try retention(cases, offers: offers, deadline: deadline)
        try await service.addSubscriber(autoRenew: false)
        return service
    }

    /// The service after a restart: with the same database, and nothing in memory.
    func restarted() throws -> TestService {
        let restarted = try TestService(
            pair: pair, catalogue: catalogue, issuerIDs: IssuerIDs(ofAllApps: Fixtures.issuerID()), appStore: appStore,
            store: current, parts: { $0.retentionDeadline = .seconds(3600) })
        restarted.setTime(Sample.day(10))
        return restarted
    }

    /// Keeps the database from making a change, or from reading too, for a time.
    func occupy(for duration: Duration, readers: Int = 0) async throws {
        let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
        let isBusy = NIOLockedValueBox(0)
        Task {
            try await store.write(.names([])) { _ in
                isBusy.withLockedValue { $0 += 1 }
                Thread.sleep(forTimeInterval: seconds)
            }
        }
        for _ in 0..<readers {
            Task {
                try await store.read { _ in
                    isBusy.withLockedValue { $0 += 1 }
                    Thread.sleep(forTimeInterval: seconds)
                }
            }
        }
        while isBusy.withLockedValue({ $0 }) < readers + 1 { try await Task.sleep(for: .milliseconds(1)) }
    }

    /// Requests a retention message.
    func message(_ request: Retention.Request = Retention.Request()) async throws -> HTTPResponse {
        await routes.postLater("/v1/retention-messages", try request.body())
    }

    /// The answer that the service gives.
    func answer(giving claim: RetentionAnswers.Claim) async -> RetentionAnswer? {
        guard let app = catalogue.apps[Sample.bundleID] else { preconditionFailure("the app is configured") }
        let request = VerifiedRetentionRequest(
            app: Sample.production, configured: app, originalTransactionID: Sample.id("1000"),
            requestIdentifier: UUIDText(high: 8, low: 8),
            view: RetentionView(
                productID: app.rules.offers[0].productID, locale: RetentionLocale("en"), environment: .production))
        let signing = routes.signing
        return await RetentionDecider(signing.decider).answer(
            request,
            Admission(principal: .anyone, policy: signing.signer.policy.snapshot, context: RequestContext()), claim)
    }

    /// The authorisations of a subscription, the oldest first.
    func authorisations(of original: String) async throws -> [Authorisation] {
        try await authorisations(of: [.originalTransactionID(Sample.id(original))])
    }
}

extension HTTPResponse {
    /// The claims of the JWS of a promotional offer.
    var offerClaims: [String: Any]? {
        let offer = json["promotionalOffer"] as? [String: Any]
        let jws = offer?["promotionalOfferSignatureV2"] as? String
        return jws.flatMap { $0.split(separator: ".").count == 3 ? Base64URL.json($0.split(separator: ".")[1]) : nil }
    }

    /// The members of the V1 signature of a promotional offer.
    var offerV1: [String: Any]? {
        (json["promotionalOffer"] as? [String: Any])?["promotionalOfferSignatureV1"] as? [String: Any]
    }
}
