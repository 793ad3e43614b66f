import Foundation
import OfferCore
import OfferEligibility
import TestSupport
import Testing

@testable import HistoryTestSupport

/// `OWNERSHIP_WORLDS` asks for more worlds.
@Suite("Whose purchases count, and when never is known")
struct OwnershipTests {
    private static let count =
        ProcessInfo.processInfo.environment["OWNERSHIP_WORLDS"].flatMap { Int($0) } ?? 2_000
    private static let seed: UInt64 = 39

    private static func originals(_ purchases: CustomerPurchases) -> Set<Int> {
        Set(purchases.purchases.compactMap { Int($0.original.text.description) })
    }

    @Test("a second implementation agrees about every random world")
    func reference() throws {
        var random = SplitMix64(seed: Self.seed)
        var (complete, owned, several) = (0, 0, 0)
        for number in 0..<Self.count {
            let world = OwnershipWorld(&random)
            let reference = OwnershipReference(world: world)
            let purchases = try world.counted()
            try #require(Self.originals(purchases) == reference.counted(), "world \(number): \(world)")
            let accounts = Set(try reference.accounts().map(OwnershipWorld.customer))
            try #require(purchases.accounts == accounts, "world \(number): \(world)")
            let state = world.state(purchases.facts)
            let isComplete = reference.isComplete()
            try #require(state.history.isOfApp == isComplete, "world \(number): \(world)")
            let lifetime = try ProductID("lifetime")
            try #require(state.owns(lifetime) == (reference.owns ? true : isComplete ? false : nil), "world \(number)")
            try #require(
                state.everRefunded == (reference.refunded ? true : isComplete ? false : nil), "world \(number)")
            try #require((state.everSubscribed == true) == reference.subscribed, "world \(number)")
            if isComplete { complete += 1 }
            if !purchases.accounts.isEmpty { owned += 1 }
            if purchases.appleAccounts.count > 1 { several += 1 }
        }
        #expect(complete > Self.count / 20 && owned > Self.count / 5 && several > Self.count / 50)
    }

    @Test("the order of facts, repeats, padding and strangers change nothing")
    func strangers() throws {
        var random = SplitMix64(seed: Self.seed + 1)
        for number in 0..<(Self.count / 10) {
            let world = OwnershipWorld(&random)
            var other = OwnershipWorld(&random, offset: 10_000)
            let facts = try world.facts
            let purchases = try world.counted(facts)
            let state = world.state(purchases.facts)
            // Forty purchases of another person, older than the customer's.
            for id in 0..<40 {
                other.purchases.append(
                    OwnershipWorld.Purchase(
                        id: 100_000 + id, kind: .coins, appleAccount: 10_001, ownership: .purchased,
                        transactions: [OwnershipWorld.Transaction(id: 100_000 + id, token: 10_001, day: 0)]))
            }
            let all = try (facts + other.facts + facts.prefix(3)).shuffled(using: &random)
            let links = try world.customerLinks + other.customerLinks
            let mixed = try CustomerPurchases(
                of: world.asked.map(OwnershipWorld.identifier), in: SubscriberFacts(all),
                links: links.shuffled(using: &random),
                by: world.policy, proven: Set(world.proven.map { try TransactionID("\($0)") }),
                provenAppleAccount: world.provenAppleAccount.map { try TransactionID("A\($0)") })
            try #require(Self.originals(mixed) == Self.originals(purchases), "world \(number)")
            try #require(Set(mixed.holders) == Set(purchases.holders) && mixed.accounts == purchases.accounts)
            try #require(mixed.names == purchases.names, "world \(number)")
            try #require(world.state(mixed.facts) == state, "world \(number)")
        }
    }

    @Test("two names of one customer give one answer")
    func names() throws {
        var random = SplitMix64(seed: Self.seed + 2)
        var compared = 0
        for number in 0..<(Self.count / 5) {
            let world = OwnershipWorld(&random)
            for (name, account) in world.links {
                guard case .account = name else { continue }
                let byName = try world.counted(as: .some(name))
                let byToken = try world.counted(as: .some(.account(account)))
                try #require(Self.originals(byName) == Self.originals(byToken), "world \(number): \(world)")
                try #require(byName.accounts == byToken.accounts && Set(byName.holders) == Set(byToken.holders))
                compared += 1
            }
        }
        #expect(compared > Self.count / 20)
    }

    @Test("what is withheld never turns a no into a yes")
    func withheld() throws {
        var random = SplitMix64(seed: Self.seed + 3)
        var (tried, refuted) = (0, 0)
        for number in 0..<Self.count {
            let world = OwnershipWorld(&random)
            let truth = OwnershipReference(world: world)
            var known = world
            // Any purchase that is not among the proofs, or the last transaction of one. A complete history would have had it.
            guard let place = known.purchases.indices.randomElement(using: &random) else { continue }
            let hidden = known.purchases[place]
            if hidden.transactions.count > 1, Bool.random(using: &random) {
                known.purchases[place].transactions.removeFirst()
            } else {
                guard !world.proven.contains(hidden.id), world.asked != .purchase(hidden.id) else { continue }
                known.purchases.remove(at: place)
            }
            for place in known.purchases.indices {
                let purchase = known.purchases[place]
                if purchase.id == hidden.id
                    || purchase.appleAccount != nil && purchase.appleAccount == hidden.appleAccount
                {
                    known.purchases[place].historyDay = nil
                }
            }
            tried += 1
            let purchases = try known.counted()
            // Without any of its purchases, an Apple Account of an account is not known.
            guard
                truth.counted().allSatisfy({ id in
                    let appleAccount = world.purchases.first { $0.id == id }?.appleAccount
                    return purchases.purchases.contains {
                        "A\(appleAccount ?? -1)" == $0.appleAccount?.text.description
                    }
                })
            else { continue }
            let state = world.state(purchases.facts)
            if truth.owns { try #require(state.owns(try ProductID("lifetime")) != false, "world \(number): \(world)") }
            if truth.refunded { try #require(state.everRefunded != false, "world \(number): \(world)") }
            if truth.owns || truth.refunded { refuted += 1 }
        }
        #expect(tried > Self.count / 2 && refuted > Self.count / 20)
    }
}
