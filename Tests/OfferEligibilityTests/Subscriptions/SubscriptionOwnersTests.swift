import OfferCore
import OfferEligibility
import Testing

@testable import HistoryTestSupport

@Suite("Who a subscription belongs to")
struct SubscriptionOwnersTests {
    private typealias Make = TestFacts

    private static func facts(_ accounts: [UInt64?]) throws -> [SubscriberFact] {
        try accounts.enumerated().map { place, account in
            try Make.transaction("\(place + 1)", Double(place) * 30, Double(place) * 30 + 30) {
                $0.appAccountToken = account.map(UUIDText.account)
            }
        }
    }

    private static func owners(_ accounts: [UInt64?], _ policy: OwnershipPolicy) throws -> [UUIDText] {
        let facts = try facts(accounts)
        let owners = SubscriptionOwners(of: facts, by: policy).accounts
        let reversed = SubscriptionOwners(of: facts.reversed(), by: policy).accounts
        #expect(owners == reversed)
        return owners
    }

    @Test("traps 7 and 8: of several accounts of one Apple Account, the policy decides who owns the subscription")
    func policies() throws {
        let accounts: [UInt64?] = [nil, 3, 1, nil, 3, 2]
        #expect(try Self.owners(accounts, .first) == [.account(3)])
        #expect(try Self.owners(accounts, .transfer) == [.account(2)])
        #expect(try Self.owners(accounts, .share) == [.account(3), .account(1), .account(2)])
    }

    @Test("trap 7: a missing account token leaves the subscription anonymous")
    func anonymous() throws {
        for policy in OwnershipPolicy.allCases { #expect(try Self.owners([nil, nil], policy).isEmpty) }
    }

    @Test("the earliest purchase counts, not the earliest arrival, and the renewal info comes last")
    func renewalInfo() throws {
        let info = try Make.renewal(signed: 0) { $0.appAccountToken = .account(5) }
        let facts = [info] + (try Self.facts([1]))
        #expect(SubscriptionOwners(of: facts, by: .first).accounts == [.account(1)])
        #expect(SubscriptionOwners(of: facts, by: .transfer).accounts == [.account(5)])
        #expect(SubscriptionOwners(of: [info], by: .first).accounts == [.account(5)])
    }
}
