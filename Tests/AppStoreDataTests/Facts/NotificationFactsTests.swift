import AppStoreData
import OfferCore
import OfferCrypto
import OfferEligibility
import Testing

@testable import AppStoreTestSupport

@Suite("Facts of notifications")
struct NotificationFactsTests {
    private static func notification(_ type: String, _ data: SamplePayload = .data) -> SamplePayload {
        SamplePayload.notification(type, data)
    }

    private static func facts(
        _ notification: SamplePayload, transaction: SamplePayload = .transaction,
        renewalInfo: SamplePayload = .renewalInfo
    ) throws -> [SubscriberFact] {
        let payloads = ["t.t.t": transaction, "r.r.r": renewalInfo, "a.a.a": .appTransaction]
        let verified = try VerifiedNotification(
            AppStoreNotification(json: notification.json), for: ExpectedApps([OriginTests.app()])
        ) { jws, _ throws(PayloadError) in
            try PayloadObject(json: payloads[String(decoding: jws, as: UTF8.self)]?.json ?? [])
        }
        return try verified.facts
    }

    private static func kinds(_ notification: SamplePayload) throws -> [SubscriberFact.Kind] {
        try facts(notification).map(\.key.kind)
    }

    @Test("a notification brings a transaction, a renewal info and a status, each with its own key and date")
    func parts() throws {
        let facts = try Self.facts(Self.notification("DID_RENEW"))
        #expect(facts.map(\.key.kind) == [.transaction, .renewalInfo, .status])
        let ids = ["2000000987654321", "2000000123456789", "2000000123456789"]
        #expect(facts.map(\.key.id.text.description) == ids)
        #expect(Set(facts.map(\.originalTransactionID.text.description)) == ["2000000123456789"])
        #expect(facts.map(\.signedDate.milliseconds) == [1_761_130_767_123, 1_761_130_767_150, 1_761_130_767_160])
        #expect(facts[2].value == .status(.billingGracePeriod))
    }

    @Test("the digest is that of the signed text")
    func digests() throws {
        let notification = Self.notification("DID_RENEW")
        let texts = [SamplePayload.transaction.json, SamplePayload.renewalInfo.json, notification.json]
        #expect(try Self.facts(notification).map(\.digest) == texts.map { try SHA256.hash($0) })
    }

    @Test("what state needs of a transaction and of a renewal info is kept")
    func contents() throws {
        let facts = try Self.facts(Self.notification("DID_RENEW"))
        guard case .transaction(let purchase) = facts[0].value, case .renewalInfo(let renewal) = facts[1].value else {
            Issue.record("A notification's first facts are its transaction and its renewal info.")
            return
        }
        #expect(purchase.productID.text.description == "com.example.app.pro.monthly")
        #expect(purchase.type == .autoRenewableSubscription && purchase.subscriptionGroupID == "21012345")
        #expect(purchase.expiresDate?.milliseconds == 1_763_812_800_000)
        #expect(purchase.webOrderLineItemID == "2000000054321098" && purchase.ownership == .purchased)
        #expect(purchase.reason == .renewal && purchase.isUpgraded && purchase.price == 4990)
        #expect(purchase.offer?.identifier == "retention_50off_3m" && purchase.revocation?.percentage == 54321)
        #expect(purchase.appTransactionID?.text.description == "704897469903278336")
        #expect(renewal.autoRenewStatus == .on && renewal.expirationIntent == .billingError)
        #expect(renewal.isInBillingRetryPeriod == true && renewal.priceIncreaseStatus == .unanswered)
        #expect(renewal.gracePeriodExpiresDate?.milliseconds == 1_764_000_000_000)
        #expect(renewal.renewalDate?.milliseconds == 1_763_812_800_000 && renewal.offer?.type == .winBack)
        #expect(renewal.eligibleWinBackOfferIDs == ["best", "second"])
        #expect(renewal.price == 9990 && renewal.currency == "EUR" && renewal.quantity == 12)
        #expect(renewal.priceTiers == [PriceTier(price: 3990, quantity: 12)])
        #expect(facts.map { $0.appAccountToken?.description.hasPrefix("7e3fb20b") } == [true, true, nil])
    }

    @Test("only the types of refunds, expiries and changes make facts of their own")
    func types() throws {
        let others: [SubscriberFact.Kind] = [.transaction, .renewalInfo, .status]
        for type in ["DID_RENEW", "SUBSCRIBED", "PRICE_INCREASE", "NEW_TYPE"] {
            #expect(try Self.kinds(Self.notification(type)) == others)
        }
        for (type, subtype) in [
            ("REFUND_REVERSED", nil), ("REVOKE", nil), ("DID_CHANGE_RENEWAL_PREF", "DOWNGRADE"),
            ("OFFER_REDEEMED", "UPGRADE"),
            ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED"), ("GRACE_PERIOD_EXPIRED", nil),
            ("DID_FAIL_TO_RENEW", "GRACE_PERIOD"), ("DID_RENEW", "BILLING_RECOVERY"), ("EXPIRED", "NEW"),
            ("REFUND", nil), ("REFUND", "SEATS"), ("DID_CHANGE_RENEWAL_PREF", "INCREASE_QUANTITY"),
            ("DID_CHANGE_RENEWAL_PREF", "DECREASE_QUANTITY"),
        ] as [(String, String?)] {
            var notification = Self.notification(type)
            if let subtype { notification = notification.with("subtype", "\"\(subtype)\"") }
            let fact = try #require(try Self.facts(notification).last)
            guard case .renewalChange(let change) = fact.value else {
                Issue.record("\(type) makes no change")
                continue
            }
            #expect(change.type == type && change.subtype == subtype && change.renewal.autoRenewStatus == .on)
            #expect("\(fact.key.id.text)".hasPrefix("\(fact.signedDate.milliseconds) \(type) "))
            #expect(change.renewal.appAccountToken == nil && change.renewal.offer == nil, "only what changes")
        }
        let requests: [(String, RefundRequest)] = [
            ("CONSUMPTION_REQUEST", .open), ("REFUND", .granted), ("REFUND_DECLINED", .declined),
        ]
        for (type, request) in requests {
            let facts = try Self.facts(Self.notification(type))
            let fact = try #require(facts.first { $0.key.kind == .refundRequest })
            #expect(fact.value == .refundRequest(request))
            #expect(fact.key.id.text.description == "2000000987654321")
        }
    }

    @Test("the subtype of an expiry is kept raw, and its absence is a value", arguments: ["VOLUNTARY", "NEW", nil])
    func expiry(subtype: String?) throws {
        var notification = Self.notification("EXPIRED")
        if let subtype { notification = notification.with("subtype", "\"\(subtype)\"") }
        let fact = try #require(try Self.facts(notification).first { $0.key.kind == .expiryReason })
        #expect(fact.value == .expiryReason(ExpiryReason(rawValue: subtype ?? "")))
        #expect(fact.key.id.text.description == "2000000123456789")
    }

    @Test("trap 20: a DID_FAIL_TO_RENEW without a subtype and a grace date is read, and says that billing is retried")
    func noGraceDate() throws {
        let facts = try Self.facts(
            Self.notification("DID_FAIL_TO_RENEW", SamplePayload.data.with("status", "3")),
            renewalInfo: .renewalInfo.without("gracePeriodExpiresDate", "expirationIntent"))
        #expect(facts.map(\.key.kind) == [.transaction, .renewalInfo, .status, .renewalChange])
        #expect(facts[2].value == .status(.billingRetry))
        guard case .renewalInfo(let renewal) = facts[1].value else { return }
        #expect(renewal.isInBillingRetryPeriod == true && renewal.gracePeriodExpiresDate == nil)
    }

    @Test(
        "trap 16: the inner and outer dates differ by milliseconds in either order, and the status is as new as the newest"
    )
    func datesOfParts() throws {
        let late = SamplePayload.transaction.with("signedDate", "1761130767216")
        let status = try #require(try Self.facts(Self.notification("DID_RENEW"), transaction: late).last)
        #expect(status.signedDate.milliseconds == 1_761_130_767_216)
    }

    @Test("a notification without a transaction brings no facts")
    func noTransaction() throws {
        let data = SamplePayload.data.without("signedTransactionInfo")
        #expect(try Self.facts(Self.notification("TEST", data)).isEmpty)
        for other in SamplePayload.notifications.dropFirst() { #expect(try Self.facts(other).isEmpty) }
        let alone = SamplePayload.data.without("signedRenewalInfo", "status")
        #expect(try Self.facts(Self.notification("ONE_TIME_CHARGE", alone)).map(\.key.kind) == [.transaction])
    }

    @Test("trap 28: the parts of a refund reversal take the refund back")
    func refundReversed() throws {
        let refund = try Self.facts(Self.notification("REFUND"))
        let fields = ["revocationDate", "revocationReason", "revocationType", "revocationPercentage"]
        let transaction = fields.reduce(SamplePayload.transaction) { $0.without($1) }
            .with("signedDate", "1761130767999")
        let reversed = try Self.facts(Self.notification("REFUND_REVERSED"), transaction: transaction)
        let now = Timestamp(milliseconds: 1_761_130_900_000)
        for facts in [refund + reversed, reversed + refund] {
            let state = SubscriberState(of: SubscriberFacts(facts), environment: .production, at: now)
            #expect(state.refunds.isEmpty)
        }
        #expect(SubscriberState(of: SubscriberFacts(refund), environment: .production, at: now).refunds.count == 1)
    }
}
