import AppStoreData
import OfferCore
import OfferEligibility
import TestSupport
import Testing

@testable import HistoryTestSupport

@Suite("The order of arrival")
struct OrderTests {
    /// Each argument stands for as many histories; their seeds follow one another.
    private static let batch: UInt64 = 500

    @Test(
        "any order, repeats and copies of 500 histories give the state that the history itself gives",
        arguments: 0..<20 as Range<UInt64>)
    func orderDoesNotMatter(number: UInt64) throws {
        for seed in number * Self.batch..<(number + 1) * Self.batch {
            let failures = try failures(of: try Self.histories(seed: seed))
            guard failures.isEmpty else {
                Issue.record("seed \(seed): \(failures[0])")
                return
            }
        }
    }

    @Test("notifications that the service has read give the state that the history itself gives")
    func notifications() throws {
        let bundleID = try BundleID(utf8: Array("com.example.app".utf8))
        var types: Set<String> = []
        for seed in 0..<300 as Range<UInt64> {
            var random = SplitMix64(seed: seed)
            for history in try Self.histories(seed: seed) {
                var facts: [SubscriberFact] = []
                for notification in history.notifications {
                    let found = try notification.read(of: bundleID, in: history.environment).facts
                    #expect(found.map(Self.withoutDigest) == notification.facts.map(Self.withoutDigest), "seed \(seed)")
                    facts += found
                    types.insert(notification.type)
                }
                facts += try history.copies(&random)
                let state = SubscriberState(
                    of: SubscriberFacts(facts.shuffled(using: &random)), environment: history.environment,
                    at: history.end)
                let differences = try history.differences(state, at: history.end)
                #expect(differences == [], "seed \(seed)")
            }
        }
        // The content of UNCLAIM_SEATS is not read, only kept.
        let read = NotificationType.known.subtracting([.unclaimSeats])
        #expect(types.isSuperset(of: read.map(\.rawValue)))
        #expect(types.contains { !NotificationType.known.map(\.rawValue).contains($0) }, "a later type")
    }

    /// A signed text has another digest than the values in it.
    private static func withoutDigest(_ fact: SubscriberFact) -> SubscriberFact {
        SubscriberFact(
            fact.value, transactionID: fact.key.id, originalTransactionID: fact.originalTransactionID,
            signedDate: fact.signedDate, digest: [])
    }

    /// The history of a customer; for every fourth, another one in the other environment with the same identifiers.
    private static func histories(seed: UInt64) throws -> [History] {
        let history = try History(seed: seed)
        guard seed % 4 == 0 else { return [history] }
        let environment = history.environment == .production ? AppStoreEnvironment.sandbox : .production
        return [history, try History(seed: seed + 1_000_000, environment: environment)]
    }

    @Test("the histories reach every status, every reason for an end and every kind of fact")
    func everyState() throws {
        var seen: Set<String> = []
        for seed in 0..<600 as Range<UInt64> {
            let history = try History(seed: seed)
            for life in history.lives {
                let known = (life.edges + [history.end]).filter { $0 >= history.end }.map { life.expected(at: $0) }
                seen.formUnion(known.map { $0.settled ? $0.status.rawValue : "unsettled" })
                seen.formUnion(known.compactMap { $0.endedBecause?.rawValue })
                seen.formUnion(known.map(\.lastPeriod.rawValue))
                if life.terms.contains(where: \.isUpgraded) { seen.insert("upgraded") }
                if life.isReplaced { seen.insert("replaced") }
                if life.successorStart != nil, !life.isReplaced { seen.insert("followed") }
                if life.inherited.map({ $0.renewals > 0 }) == true { seen.insert("inherited renewals") }
                seen.insert("\(life.expectedOwners(.share).count) accounts")
            }
            seen.insert("\(Set(history.lives.map(\.appleAccount)).count) Apple Accounts")
            seen.formUnion(history.facts.map { "\($0.key.kind)" } + [history.environment.rawValue])
        }
        let ends = Subscription.EndReason.allCases.map(\.rawValue)
        // Receipts and answers to questions come in copies only. The store adds announcements.
        let copied: Set<SubscriberFact.Kind> = [
            .receiptTransaction, .fetchedTransaction, .fetchedRenewalInfo, .wholeHistory, .firstAnnouncement,
            .lastAnnouncement,
        ]
        let kinds = SubscriberFact.Kind.allCases.filter { !copied.contains($0) }.map { "\($0)" }
        let periods = ["trial", "promotional", "offer_code", "win_back", "retention", "regular"]
        let others = [
            "unsettled", "upgraded", "replaced", "followed", "inherited renewals", "0 accounts", "1 accounts",
            "2 accounts", "1 Apple Accounts", "2 Apple Accounts", "Production", "Sandbox",
        ]
        #expect(seen == Set(Subscription.Status.allCases.map(\.rawValue) + ends + kinds + periods + others))
    }

    @Test("a history that lacks its beginning never says no")
    func partialHistory() throws {
        var (count, whole) = (0, 0)
        for seed in 0..<300 as Range<UInt64> {
            let history = try History(seed: seed)
            // A subscription of which nothing is left cannot be missed.
            for life in history.lives where life.terms.count > 1 {
                let first = try TransactionID(life.original)
                let known = history.facts.filter { $0.key.kind != .transaction || $0.key.id != first }
                let state = SubscriberState(known, history.environment, at: history.end)
                #expect(Self.answers(state).filter { $0 == false }.isEmpty, "seed \(seed), without \(life.original)")
                let groups = state.subscriptions.filter { $0.originalTransactionID == first }.map(\.subscriptionGroupID)
                // What began earlier and belongs to another purchaser is no gap in the customer's own purchases.
                #expect(
                    life.isShared || groups.allSatisfy { $0.map { !state.history.groups.contains($0) } ?? true },
                    "seed \(seed), without \(life.original)")
                count += 1
            }
            guard history.lives.allSatisfy({ $0.isKnownThroughout(at: history.end) }) else { continue }
            whole += 1
            let originals = Set(history.facts.map(\.originalTransactionID.text.description))
            let marks = try originals.map {
                try TestFacts.fact(.wholeHistory("r"), $0, of: $0, signed: history.end)
            }
            let state = SubscriberState(history.facts + marks, history.environment, at: history.end)
            #expect(Self.answers(state).allSatisfy { $0 != nil }, "seed \(seed)")
        }
        #expect(count > 200 && whole > 50)
    }

    private static func answers(_ state: SubscriberState) -> [Bool?] {
        let groups = ["g", "h", "another"].map { state.usedIntroductoryOffer(inGroup: $0) }
        return groups + [state.everSubscribed, state.everRefunded] + [(try? ProductID("lifetime")).flatMap(state.owns)]
    }

    @Test("merging sets is associative, commutative and idempotent", arguments: 0..<20 as Range<UInt64>)
    func algebra(seed: UInt64) throws {
        let facts = try History(seed: seed).delivery(0)
        let parts = (0..<3).map { part in
            SubscriberFacts(facts.enumerated().filter { $0.offset % 3 != part }.map(\.element))
        }
        func merged(_ order: [Int]) -> SubscriberFacts {
            order.reduce(into: SubscriberFacts()) { $0.merge(parts[$1]) }
        }
        var right = parts[1]
        right.merge(parts[2])
        var nested = parts[0]
        nested.merge(right)
        for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2, 1, 1]] { #expect(merged(order) == nested) }
    }

    private func failures(of histories: [History]) throws -> [String] {
        // The facts of both environments arrive mixed.
        var random = SplitMix64(seed: UInt64(histories.count))
        var arriving: [(AppStoreEnvironment, SubscriberFact)] = []
        for history in histories { arriving += try history.delivery(1).map { (history.environment, $0) } }
        if histories.count > 1 { arriving.shuffle(using: &random) }
        let merged = arriving.reduce(into: [AppStoreEnvironment: SubscriberFacts]()) { merged, next in
            merged[next.0, default: SubscriberFacts()].merge(next.1)
        }
        return try histories.flatMap { try failures(of: $0, merged: merged[$0.environment] ?? SubscriberFacts()) }
    }

    private func failures(of history: History, merged: SubscriberFacts) throws -> [String] {
        let deliveries = [SubscriberFacts(history.facts.reversed()), merged]
        var failures: [String] = []
        let times = times(of: history)
        for life in history.lives where try !life.ownersAgree(with: deliveries[1]) {
            failures.append("The owners of \(life.original) differ.")
        }
        for (place, now) in times.enumerated() {
            let state = SubscriberState(
                of: deliveries[place % 2], environment: history.environment,
                evidence: HistoryEvidence(freshness: .days(100_000)), at: now)
            failures += try history.differences(state, at: now)
            // Copies may tell more of the history, and never less.
            // A share or a seat says nothing about what the customer bought.
            let own = history.lives.filter { !$0.isShared }
            let isWhole = !own.isEmpty && own.allSatisfy { $0.isKnownThroughout(at: now) }
            let isKnown = !state.history.groups.isEmpty
            let isOfOne = state.appleAccounts.count <= 1
            if isWhole && isOfOne && !isKnown || place % 2 == 0 && !isWhole && history.lives.count == 1 && isKnown {
                failures.append("history \(state.history) at \(now.milliseconds)")
            }
            guard place == 0 else { continue }
            let ordered = SubscriberState(
                of: SubscriberFacts(history.facts), environment: history.environment,
                evidence: HistoryEvidence(freshness: .days(100_000)), at: now)
            if ordered != state { failures.append("The order matters.") }
            let other = SubscriberState(of: deliveries[1], environment: history.environment, at: now)
            failures += try history.differences(other, at: now)
            let reversed = SubscriberFacts(try history.delivery(1).reversed() + history.facts)
            if other != SubscriberState(of: reversed, environment: history.environment, at: now) {
                failures.append("The deliveries differ.")
            }
        }
        return failures
    }

    /// The end of the history, and some later times around which the state may change.
    private func times(of history: History) -> [Timestamp] {
        var random = SplitMix64(seed: UInt64(bitPattern: history.end.milliseconds))
        let edges = history.lives.flatMap(\.edges).filter { $0 >= history.end }
        return [history.end] + edges.shuffled(using: &random).prefix(3)
    }
}

extension Life {
    /// Compares the owners under one policy, which depends on the history.
    fileprivate func ownersAgree(with facts: SubscriberFacts) throws -> Bool {
        let id = try TransactionID(original)
        let policy = OwnershipPolicy.allCases[Int(clock.milliseconds % 3)]
        let owners = SubscriptionOwners(of: facts.filter { $0.originalTransactionID == id }, by: policy)
        return owners.accounts == expectedOwners(policy)
    }
}
