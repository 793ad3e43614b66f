import AppStoreData
import NIOConcurrencyHelpers
import OfferCore
import OfferCrypto
import OfferEligibility
import OfferHTTP
import OfferService
import SubscriberStore
import Testing

@testable import AppStoreTestSupport
@testable import OfferConfiguration
@testable import SubscriberSync

@Suite("Kept notifications can be read again")
struct NotificationReplayTests {
    @Test("nothing changes where they were read right")
    func unchanged() async throws {
        let intake = try await Self.intake()
        let before = try await Self.facts(intake)
        #expect(before.count == 5)
        let result = try await Self.replay(intake)
        #expect(result.read == 3 && result.skipped == 0 && result.withdrawn == 0)
        #expect(try await Self.facts(intake) == before)
    }

    @Test("wrong values, dates and keys that an earlier version has stored are put right", arguments: Mistake.allCases)
    func corrected(mistake: Mistake) async throws {
        let right = try await Self.intake()
        let wrong = try await Self.intake(misreading: mistake)
        let expected = try await Self.contents(right)
        #expect(try await Self.contents(wrong) != expected)
        let result = try await Self.replay(wrong)
        #expect(result.read == 3 && result.skipped == 0)
        #expect((result.withdrawn > 0) == ![.value, .lacking].contains(mistake))
        #expect(try await Self.contents(wrong) == expected)
        #expect(try await wrong.store.intakes() == right.store.intakes())
    }

    @Test("the notifications have everything that an earlier version lacks")
    func whole() async throws {
        let facts = try await Self.facts(try await Self.intake()).map(\.fact.value)
        #expect(
            facts.contains { value in
                guard case .transaction(let purchase) = value else { return false }
                return purchase.currency != nil && purchase.storefront != nil && purchase.quantity != nil
                    && purchase.billingPlan != nil && purchase.commitment != nil && purchase.additionalReason != nil
                    && purchase.seats != nil
            })
        #expect(
            facts.contains { value in
                guard case .renewalInfo(let renewal) = value else { return false }
                return renewal.price != nil && renewal.quantity != nil && renewal.billingPlan != nil
                    && renewal.commitment != nil && !renewal.priceTiers.isEmpty
            })
        #expect(facts.contains { if case .renewalChange = $0 { true } else { false } })
    }

    @Test("those that cannot be verified are named, and what they gave stays")
    func skipped() async throws {
        let intake = try await Self.intake()
        let before = try await Self.facts(intake)
        var skipped: [String] = []
        let others = AppStoreSettings(roots: try TrustedRoots([X509Certificate(der: TestChain().root)]))
        let result = try await Self.replay(intake, others) { skipped.append("\($0.notificationUUID)") }
        #expect(result.read == 0 && result.skipped == 3)
        #expect(skipped.prefix(2) == ["newer", "older"])
        #expect(try await Self.facts(intake) == before)
    }
}

/// What an earlier version might have done wrong.
enum Mistake: CaseIterable {
    case value, date, key, subscription, additional
    /// The earlier version did not know seats, commitments, prices, storefronts and changes of renewals.
    case lacking
}

extension Mistake {
    /// What an earlier version made of the facts of one notification.
    fileprivate func applied(to facts: [SubscriberFact]) throws -> [SubscriberFact] {
        switch self {
        case .value: return facts.map { copy($0, value: wrongValue(of: $0)) }
        case .date: return facts.map { copy($0, signedDate: $0.signedDate.milliseconds + 86_400_000_000) }
        case .key:
            return try facts.map { copy($0, transactionID: try TransactionID(utf8: Array("9000000000000001".utf8))) }
        case .subscription:
            return try facts.map { copy($0, original: try TransactionID(utf8: Array("9000000000000002".utf8))) }
        case .lacking: return facts.compactMap { fact in earlierValue(of: fact).map { copy(fact, value: $0) } }
        case .additional: return facts + facts.prefix(1).map { copy($0, value: .refundRequest(.granted)) }
        }
    }

    private func earlierValue(of fact: SubscriberFact) -> SubscriberFact.Value? {
        switch fact.value {
        case .transaction(var purchase):
            (purchase.currency, purchase.storefront, purchase.quantity) = (nil, nil, nil)
            (purchase.billingPlan, purchase.commitment) = (nil, nil)
            (purchase.additionalReason, purchase.seats) = (nil, nil)
            return .transaction(purchase)
        case .renewalInfo(var renewal):
            (renewal.price, renewal.currency, renewal.quantity) = (nil, nil, nil)
            (renewal.billingPlan, renewal.commitment, renewal.priceTiers) = (nil, nil, [])
            return .renewalInfo(renewal)
        case .renewalChange: return nil
        default: return fact.value
        }
    }

    private func wrongValue(of fact: SubscriberFact) -> SubscriberFact.Value {
        switch fact.value {
        case .transaction(var purchase):
            purchase.appAccountToken = UUIDText(high: 1, low: 2)
            return .transaction(purchase)
        case .receiptTransaction(var purchase):
            purchase.price = 1
            return .receiptTransaction(purchase)
        case .renewalInfo(var renewal):
            renewal.appAccountToken = UUIDText(high: 3, low: 4)
            return .renewalInfo(renewal)
        case .status: return .status(SubscriptionStatus(rawValue: 5))
        case .refundRequest: return .refundRequest(.declined)
        case .expiryReason: return .expiryReason(ExpiryReason(rawValue: "WRONG"))
        case .renewalChange(let change):
            var renewal = change.renewal
            renewal.renewalDate = .max
            return .renewalChange(RenewalChange(type: change.type, subtype: change.subtype, renewal: renewal))
        // No notification brings these.
        case .fetchedTransaction, .fetchedRenewalInfo, .wholeHistory, .firstAnnouncement, .lastAnnouncement:
            return fact.value
        }
    }

    private func copy(
        _ fact: SubscriberFact, value: SubscriberFact.Value? = nil, transactionID: TransactionID? = nil,
        original: TransactionID? = nil, signedDate: Int64? = nil
    ) -> SubscriberFact {
        SubscriberFact(
            value ?? fact.value, transactionID: transactionID ?? fact.key.id,
            originalTransactionID: original ?? fact.originalTransactionID,
            signedDate: signedDate.map { Timestamp(milliseconds: $0) } ?? fact.signedDate, digest: fact.digest)
    }
}

extension NotificationReplayTests {
    private static let secret = "0123456789abcdef0123456789abcdef"

    /// An intake with two notifications about one subscription, the newer first, and one of version 1.
    private static func intake(misreading mistake: Mistake? = nil) async throws -> StoreService {
        let intake = try StoreService.notifications(sharedSecret: secret)
        let bodies = try [
            TestNotification(uuid: "newer", signedDate: 1_761_230_767_160).body(signedBy: intake.chain),
            TestNotification(type: "DID_CHANGE_RENEWAL_STATUS", uuid: "older").body(signedBy: intake.chain),
            legacyBody(),
        ]
        for body in bodies {
            guard let mistake else {
                #expect(await intake.notify(body).status == 200)
                continue
            }
            // The facts of each notification alone, as they should have been.
            let reader = try StoreService.notifications(sharedSecret: secret)
            #expect(await reader.notify(body).status == 200)
            let entry = try #require(try await reader.store.payloads(after: nil, limit: 1).first)
            _ = try await intake.store.apply(
                Delivery(
                    app: entry.app, notification: entry.notification, body: entry.body,
                    facts: try mistake.applied(to: try await facts(reader).map(\.fact))))
        }
        return intake
    }

    private static func legacyBody() throws -> String {
        let receipt = try ReceiptSigner.base64(TestReceipt(purchases: [.init()]))
        return """
            {"notification_type":"DID_RENEW","password":"\(secret)","environment":"Sandbox","bid":"com.example.app",\
            "unified_receipt":{"latest_receipt":"\(receipt)"}}
            """
    }

    private static func replay(
        _ intake: StoreService, _ settings: AppStoreSettings? = nil,
        skip: (NotificationRecord) -> Void = { _ in }
    ) async throws -> NotificationReplay.Result {
        try await NotificationReplay(intake.store, settings ?? intake.appStore, intake.catalogue).run { _ in
        } skip: { notification, _ in
            skip(notification)
        }
    }

    private struct ScopedFact: Hashable {
        let app: AppScope
        let fact: SubscriberFact
    }

    /// The facts without their digests. Those of two intakes differ, because the texts in them are signed anew each time.
    private static func contents(_ intake: StoreService) async throws -> Set<ScopedFact> {
        Set(
            try await facts(intake).map { scoped in
                let fact = scoped.fact
                return ScopedFact(
                    app: scoped.app,
                    fact: SubscriberFact(
                        fact.value, transactionID: fact.key.id, originalTransactionID: fact.originalTransactionID,
                        signedDate: fact.signedDate, digest: []))
            })
    }

    private static func facts(_ intake: StoreService) async throws -> Set<ScopedFact> {
        let facts = NIOLockedValueBox<Set<ScopedFact>>([])
        try await intake.store.forEachRecord { record throws(StoreError) in
            guard case .fact(let app, let fact) = record else { return }
            facts.withLockedValue { _ = $0.insert(ScopedFact(app: app, fact: fact)) }
        }
        return facts.withLockedValue { $0 }
    }
}
