import AppStoreData
import OfferCore
import OfferEligibility
import Testing

@testable import AppStoreTestSupport

@Suite("Verified notifications")
struct NotificationTests {
    private struct Refused: Error, Hashable {
        let jws: String
    }

    private typealias Failure = NotificationFailure<Refused>

    /// Stands in for a verifier: it accepts the texts that it has a payload for.
    private final class Verifier {
        let payloads: [String: SamplePayload]
        private(set) var calls: [String] = []

        init(_ payloads: [String: SamplePayload]) { self.payloads = payloads }

        func verify(_ jws: [UInt8], _ kind: PayloadKind) throws(Refused) -> PayloadObject {
            let jws = String(decoding: jws, as: UTF8.self)
            calls.append("\(jws) as \(kind.rawValue)")
            guard let payload = payloads[jws], let object = try? PayloadObject(json: payload.json) else {
                throw Refused(jws: jws)
            }
            return object
        }
    }

    private static let ordinary = ["t.t.t": SamplePayload.transaction, "r.r.r": .renewalInfo, "a.a.a": .appTransaction]

    private static func apps() throws -> ExpectedApps { try ExpectedApps([OriginTests.app()]) }

    private static func read(
        _ sample: SamplePayload, _ payloads: [String: SamplePayload] = ordinary
    ) throws -> VerifiedNotification {
        let verifier = Verifier(payloads)
        return try VerifiedNotification(
            AppStoreNotification(json: sample.json), for: apps(), verify: verifier.verify)
    }

    private static func failure(
        _ sample: SamplePayload, _ payloads: [String: SamplePayload] = ordinary
    ) throws -> Failure? {
        do {
            _ = try read(sample, payloads)
            return nil
        } catch let failure as Failure { return failure }
    }

    private static func expect(
        _ failure: Failure?, _ reason: Failure.Reason, in member: String? = nil,
        at location: SourceLocation = #_sourceLocation
    ) {
        #expect(failure?.reason == reason, sourceLocation: location)
        #expect(failure?.member == member, sourceLocation: location)
    }

    private static let purchase = SamplePayload.notification("DID_RENEW", .data)
    private static let sandboxPurchase = SamplePayload.notification(
        "DID_RENEW", SamplePayload.data.with("environment", #""Sandbox""#))

    @Test("the transaction and the renewal info inside a notification are verified and read")
    func purchase() throws {
        let verifier = Verifier(Self.ordinary)
        let verified = try VerifiedNotification(
            AppStoreNotification(json: Self.purchase.json), for: Self.apps(), verify: verifier.verify)
        #expect(verifier.calls == ["t.t.t as transaction", "r.r.r as renewal-info"])
        #expect(verified.app == (try OriginTests.app()))
        #expect(verified.environment == .production)
        #expect(verified.notification.type == .didRenew)
        let transaction = try SignedTransaction(json: SamplePayload.transaction.json)
        let renewalInfo = try RenewalInfo(json: SamplePayload.renewalInfo.json)
        #expect(verified.contents.transaction == transaction)
        #expect(verified.contents.record == (try SubscriptionRecord(transaction, renewalInfo)))
        #expect(verified.contents.appTransaction == nil)
    }

    @Test("the AppTransaction inside a notification is verified and read")
    func consent() throws {
        let verifier = Verifier(Self.ordinary)
        let verified = try VerifiedNotification(
            AppStoreNotification(json: SamplePayload.notifications[3].json), for: Self.apps(), verify: verifier.verify)
        #expect(verifier.calls == ["a.a.a as app-transaction"])
        #expect(verified.contents.appTransaction == (try AppTransaction(json: SamplePayload.appTransaction.json)))
        #expect(verified.contents.transaction == nil)
    }

    @Test("other notifications have nothing inside to verify")
    func nothingInside() throws {
        for sample in SamplePayload.notifications[1...2] + [
            SamplePayload.notification("TEST", .data.without("signedTransactionInfo", "signedRenewalInfo"))
        ] {
            let verified = try Self.read(sample, [:])
            #expect(verified.contents.transaction == nil && verified.contents.record == nil)
        }
    }

    @Test("a notification of another app is refused before anything inside it is verified")
    func anotherApp() throws {
        let verifier = Verifier([:])
        let sample = SamplePayload.notification("DID_RENEW", .data.with("bundleId", #""com.example.other""#))
        let notification = try AppStoreNotification(json: sample.json)
        let failure = #expect(throws: Failure.self) {
            try VerifiedNotification(notification, for: Self.apps(), verify: verifier.verify)
        }
        Self.expect(failure, .check(.anotherBundleID))
        #expect(verifier.calls.isEmpty)
    }

    @Test("a notification is checked against its app's Apple ID and environments")
    func outerChecks() throws {
        let data = SamplePayload.data
        for (data, failure) in [
            (data.with("appAppleId", "1"), .anotherAppAppleID), (data.without("appAppleId"), .appAppleIDMissing),
            (data.with("environment", #""Xcode""#), .environmentNotAccepted),
            (data.without("environment"), .environmentMissing),
        ] as [(SamplePayload, CheckFailure)] {
            Self.expect(try Self.failure(SamplePayload.notification("DID_RENEW", data)), .check(failure))
        }
        Self.expect(try Self.failure(Self.purchase.without("data")), .check(.bundleIDMissing))
    }

    @Test("each signature inside a notification must be accepted")
    func refusedInside() throws {
        for (jws, member, sample) in [
            ("t.t.t", "data.signedTransactionInfo", Self.purchase), ("r.r.r", "data.signedRenewalInfo", Self.purchase),
            ("a.a.a", "appData.signedAppTransactionInfo", SamplePayload.notifications[3]),
        ] {
            let payloads = Self.ordinary.filter { $0.key != jws }
            Self.expect(try Self.failure(sample, payloads), .notVerified(Refused(jws: jws)), in: member)
        }
    }

    @Test("trap 44: a transaction inside a notification does not pass as renewal info, nor the other way round")
    func confusedInside() throws {
        let swapped = ["t.t.t": SamplePayload.renewalInfo, "r.r.r": .transaction]
        Self.expect(
            try Self.failure(Self.purchase, swapped),
            .payload(PayloadError(.wrongKind(expected: .transaction, found: .renewalInfo))),
            in: "data.signedTransactionInfo")
        let twice = ["t.t.t": SamplePayload.transaction, "r.r.r": .transaction]
        Self.expect(
            try Self.failure(Self.purchase, twice),
            .payload(PayloadError(.wrongKind(expected: .renewalInfo, found: .transaction))),
            in: "data.signedRenewalInfo")
    }

    @Test("data inside a notification is from the notification's app")
    func anotherAppInside() throws {
        let other = #""com.example.other""#
        Self.expect(
            try Self.failure(Self.purchase, ["t.t.t": .transaction.with("bundleId", other)]),
            .check(.anotherBundleID), in: "data.signedTransactionInfo")
        for (sample, failure) in [
            (SamplePayload.appTransaction.with("bundleId", other), .anotherBundleID),
            (SamplePayload.appTransaction.with("appAppleId", "1"), .anotherAppAppleID),
            (SamplePayload.appTransaction.without("appAppleId"), .appAppleIDMissing),
        ] as [(SamplePayload, CheckFailure)] {
            Self.expect(
                try Self.failure(SamplePayload.notifications[3], ["a.a.a": sample]), .check(failure),
                in: "appData.signedAppTransactionInfo")
        }
    }

    @Test("data inside a notification is from the notification's environment, even if the app is served in both")
    func anotherEnvironmentInside() throws {
        let sandbox = #""Sandbox""#
        Self.expect(
            try Self.failure(Self.purchase, ["t.t.t": .transaction.with("environment", sandbox)]),
            .check(.environmentNotAccepted), in: "data.signedTransactionInfo")
        Self.expect(
            try Self.failure(
                Self.purchase, ["t.t.t": .transaction, "r.r.r": .renewalInfo.with("environment", sandbox)]),
            .check(.environmentNotAccepted), in: "data.signedRenewalInfo")
        Self.expect(
            try Self.failure(Self.sandboxPurchase), .check(.environmentNotAccepted), in: "data.signedTransactionInfo")
        Self.expect(
            try Self.failure(
                SamplePayload.notifications[3], ["a.a.a": .appTransaction.with("receiptType", sandbox)]),
            .check(.environmentNotAccepted), in: "appData.signedAppTransactionInfo")
    }

    @Test("data of 2021 without an environment has the notification's")
    func noEnvironmentInside() throws {
        let verified = try Self.read(
            Self.sandboxPurchase,
            ["t.t.t": .transaction.without("environment"), "r.r.r": .renewalInfo.without("environment")])
        #expect(verified.environment == .sandbox)
        #expect(verified.contents.record != nil)
        #expect(verified.contents.transaction?.environment == nil)
    }

    @Test("trap 44: renewal info of another subscription is refused")
    func anotherSubscription() throws {
        let other = SamplePayload.renewalInfo.with("originalTransactionId", #""2000000999999999""#)
        Self.expect(
            try Self.failure(Self.purchase, ["t.t.t": .transaction, "r.r.r": other]), .check(.anotherSubscription),
            in: "data.signedRenewalInfo")
    }

    @Test("renewal info without a transaction is verified but does not count")
    func renewalInfoAlone() throws {
        let sample = SamplePayload.notification("PRICE_INCREASE", .data.without("signedTransactionInfo"))
        let verified = try Self.read(sample)
        #expect(verified.contents.record == nil)
        Self.expect(
            try Self.failure(sample, [:]), .notVerified(Refused(jws: "r.r.r")), in: "data.signedRenewalInfo")
    }

    @Test("renewal info belongs to a transaction of the same subscription and environment")
    func pairs() throws {
        let transaction = try SignedTransaction(json: SamplePayload.transaction.json)
        let sandbox = try RenewalInfo(json: SamplePayload.renewalInfo.with("environment", #""Sandbox""#).json)
        let undated = try RenewalInfo(json: SamplePayload.renewalInfo.without("environment").json)
        #expect(throws: CheckFailure.anotherSubscription) { try SubscriptionRecord(transaction, sandbox) }
        #expect(throws: Never.self) { try SubscriptionRecord(transaction, undated) }
        // The renewal info of one's own subscription is not that of a transaction with the same ID.
        let other = try RenewalInfo(
            json: SamplePayload.renewalInfo.with("originalTransactionId", #""2000000987654321""#).json)
        #expect(throws: CheckFailure.anotherSubscription) { try SubscriptionRecord(transaction, other) }
    }
}
