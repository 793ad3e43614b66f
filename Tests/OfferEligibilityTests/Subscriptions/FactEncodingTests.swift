import OfferCore
import OfferEligibility
import Testing

@testable import HistoryTestSupport

@Suite("Stored facts")
struct FactEncodingTests {
    private static func full() throws -> [SubscriberFact] {
        let offer = AppliedOffer(type: .promotional, identifier: "ü", discountType: .payAsYouGo, period: "P1M")
        let transaction = try TestFacts.transaction("2", 0, 30) {
            $0.offer = offer
            $0.revocation = Revocation(date: .day(-3), reason: .appIssue, type: .proratedRefund, percentage: 54_321)
            $0.isUpgraded = true
            $0.appAccountToken = .account(7)
            $0.appTransactionID = try TransactionID("70")
            $0.currency = "EUR"
            $0.storefront = "DEU"
            $0.quantity = 12
            $0.billingPlan = .init(rawValue: "WEEKLY")
            $0.commitment = Commitment(
                billingPeriodNumber: 3, totalBillingPeriods: 12, expiresDate: .day(300), price: -1)
            $0.additionalReason = .seatAddition
            $0.seats = Seats(
                priceTiers: [PriceTier(price: 1, quantity: nil), PriceTier(price: nil, quantity: 3)],
                invitationManagement: .apple, revokedQuantity: 4)
        }
        let renewal = try TestFacts.renewal(signed: 1, .init(rawValue: -9)) {
            $0.renewalDate = .min
            $0.gracePeriodExpiresDate = .max
            $0.expirationIntent = .init(rawValue: 77)
            $0.isInBillingRetryPeriod = false
            $0.priceIncreaseStatus = .unanswered
            $0.offer = offer
            $0.eligibleWinBackOfferIDs = ["b", "", "a"]
            $0.appAccountToken = .account(8)
            $0.appTransactionID = try TransactionID("70")
            $0.price = 4990
            $0.currency = "EUR"
            $0.billingPlan = .monthly
            $0.commitment = CommitmentRenewal(
                autoRenewProductID: try ProductID("q"), autoRenewStatus: .off, billingPlanType: .billedUpFront,
                date: .day(300), price: 59_880)
            $0.quantity = 3
            $0.priceTiers = [PriceTier(price: 3990, quantity: 3), PriceTier(price: nil, quantity: nil)]
        }
        var receipt = Purchase(productID: try ProductID("p"), purchaseDate: .day(0))
        receipt.price = 0
        let fetched = Renewal(productID: try ProductID("p"), autoRenewStatus: .on)
        return [
            transaction, renewal, try TestFacts.fact(.fetchedTransaction(receipt), "3", of: "3", signed: .day(0)),
            try TestFacts.fact(.fetchedRenewalInfo(fetched), "3", of: "3", signed: .day(0)),
            try TestFacts.fact(.wholeHistory("rev-1"), "3", of: "3", signed: .day(0)),
            try TestFacts.fact(.receiptTransaction(receipt), "3", of: "3", signed: .day(0)),
            try TestFacts.status(.init(rawValue: 99), signed: 1), try TestFacts.expired(.init(rawValue: ""), signed: 1),
            try TestFacts.expired(.init(rawValue: "NEW_REASON"), signed: 1),
            try TestFacts.refundRequest(.declined, "2", signed: 1),
            try TestFacts.fact(.renewalChange(try Self.change(of: renewal)), "3", of: "3", signed: .day(1)),
        ] + renewal.announcements(beside: [])
    }

    private static func change(of fact: SubscriberFact) throws -> RenewalChange {
        guard case .renewalInfo(let renewal) = fact.value else { throw FactEncodingError.invalid(tag: 0) }
        return RenewalChange(type: "DID_CHANGE_RENEWAL_PREF", subtype: "NEW", renewal: renewal)
    }

    private static func stored(_ fact: SubscriberFact, _ encoded: [UInt8]) throws -> SubscriberFact {
        try SubscriberFact(
            key: fact.key, originalTransactionID: fact.originalTransactionID, signedDate: fact.signedDate,
            digest: fact.digest, encoded: encoded)
    }

    @Test("a stored fact is read back as it was, unknown raw values included")
    func roundTrip() throws {
        for fact in try Self.full() { #expect(try Self.stored(fact, fact.encoded) == fact) }
        #expect(Set(try Self.full().map(\.key.kind)) == Set(SubscriberFact.Kind.allCases))
    }

    @Test("members of a newer version are skipped")
    func unknownMembers() throws {
        for fact in try Self.full() { #expect(try Self.stored(fact, fact.encoded + [200, 2, 1, 1]) == fact) }
    }

    @Test("a stored fact is compact and its form does not change")
    func golden() throws {
        let fact = try TestFacts.status(.revoked, signed: 0)
        #expect(fact.encoded == [1, 1, 10])
        var purchase = Purchase(productID: try ProductID("p"), purchaseDate: Timestamp(milliseconds: -300))
        purchase.isUpgraded = true
        purchase.offer = AppliedOffer(type: .winBack, identifier: "w")
        let transaction = try TestFacts.fact(.transaction(purchase), "1", of: "1", signed: .day(0))
        #expect(transaction.encoded == [1, 1, 0x70, 2, 2, 0x02, 0x57, 9, 1, 2, 16, 1, 8, 17, 1, 0x77])
    }

    @Test("every cut of a stored fact is refused, or read without its last members")
    func cuts() throws {
        for fact in try Self.full() {
            for size in fact.encoded.indices { _ = try? Self.stored(fact, Array(fact.encoded.prefix(size))) }
            #expect(throws: FactEncodingError.self) { try Self.stored(fact, []) }
            #expect(throws: FactEncodingError.truncated) { try Self.stored(fact, Array(fact.encoded.dropLast())) }
        }
    }

    @Test("only purchases and renewal infos name an account", arguments: Array(0..<7))
    func accounts(place: Int) throws {
        let fact = try Self.full()[place]
        #expect(fact.appAccountToken == [0: .account(7), 1: .account(8)][place])
        #expect(fact.appTransactionID?.text.description == [0: "70", 1: "70"][place])
    }
}
