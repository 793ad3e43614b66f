import OfferCore
import OfferEligibility

/// A merge of facts into the subscriptions of one app.
struct FactMerge {
    let db: any Database
    let app: Int64

    /// Merges facts, and updates the next checks and the redemptions of their subscriptions.
    /// - Parameter isExported: true if the facts come from an export of another store, which includes the
    ///   announcements.
    /// - Returns: the subscriptions that the facts are about, in the order of their first facts.
    func merge(_ facts: [SubscriberFact], isExported: Bool = false) throws -> [Int64] {
        let facts = isExported ? facts : try withAnnouncements(facts)
        var subscriptions: [Int64] = []
        var ids: [TransactionID: Int64] = [:]
        var names: Set<Name> = []
        var placed: [(fact: SubscriberFact, subscription: Int64)] = []
        for fact in facts {
            let original = fact.originalTransactionID
            let id =
                try ids[original]
                ?? SubscriptionTable.makeID(of: original, lacksAnnouncements: isExported, app, db)
            if ids.updateValue(id, forKey: original) == nil { subscriptions.append(id) }
            placed.append((fact, id))
            // Identifiers are added even for a fact that is not kept, so the order of arrival does not matter.
            for identifier in IdentifierTable.identifiers(in: fact)
            where names.insert(Name(identifier: identifier, subscription: id)).inserted {
                try IdentifierTable.add(identifier, id, app, isOfConsumable: fact.isOfConsumable, db)
            }
        }
        let kept = try zip(facts, FactTable.merge(placed, db)).filter { $1 }.map(\.0)
        try adoptStatements(about: kept.filter(\.key.kind.isTransaction))
        for original in Set(kept.map(\.originalTransactionID)) {
            if let id = ids[original] { try Self.schedule(id, original, db) }
        }
        return subscriptions
    }

    /// Adds announcements to the facts, because each new renewal info replaces the previous one.
    ///
    /// Version 0.9.0 kept no announcements. So if a fact shows an offer and a subscription from that version has no
    /// announcements, its known renewal info also gives announcements.
    private func withAnnouncements(_ facts: [SubscriberFact]) throws -> [SubscriberFact] {
        var announcements = facts.announcements
        for original in Set(facts.filter(\.showsPromotionalOffer).map(\.originalTransactionID)) {
            guard let subscription = try SubscriptionTable.idLackingAnnouncements(of: original, app, db) else {
                continue
            }
            let known = try FactTable.all(subscription, of: original, db)
            guard !known.contains(where: \.key.kind.isAnnouncement) else { continue }
            announcements += known.flatMap { $0.announcements(storedBeside: known + facts) }
        }
        return facts + announcements
    }

    /// Moves callers' statements about transactions to their subscriptions, once these are known.
    private func adoptStatements(about transactions: [SubscriberFact]) throws {
        let originals = Dictionary(
            transactions.map { (CustomerIdentifier.transactionID($0.key.id), $0.originalTransactionID) }
        ) { first, _ in first }
        for transaction in try TeamFactTable.withStatements(Array(originals.keys), app, db) {
            if let original = originals[transaction] {
                try adoptStatements(about: transaction, for: .originalTransactionID(original))
            }
        }
    }

    private func adoptStatements(
        about transaction: CustomerIdentifier, for subscription: CustomerIdentifier
    ) throws {
        let known = try TeamFactTable.all(of: subscription, app, db)
        for fact in try TeamFactTable.all(of: transaction, app, db)
        where !known.contains(where: { $0.name == fact.name && $0.setAt >= fact.setAt }) {
            let adopted = TeamFact(identifier: subscription, name: fact.name, value: fact.value, setAt: fact.setAt)
            try TeamFactTable.set(adopted, app, db)
        }
        try TeamFactTable.removeAll(of: transaction, app, db)
        try TrackedFactTable.move(transaction, to: subscription, app, db)
        try LinkTable.move(transaction, to: subscription, app, db)
    }

    /// An identifier in facts about a subscription.
    private struct Name: Hashable {
        let identifier: CustomerIdentifier
        let subscription: Int64
    }

    /// Updates the next check, the redemptions and the review of a subscription.
    /// - Parameter forgotten: the treatment of redemptions that facts no longer show; nil if no facts were removed.
    static func schedule(
        _ subscription: Int64, _ original: TransactionID, forgotten: RedemptionTable.Forgotten? = nil,
        _ db: any Database
    ) throws {
        let facts = try FactTable.all(subscription, of: original, db)
        if facts.contains(where: \.showsPromotionalOffer) {
            try RedemptionTable.update(facts, of: subscription, forgotten: forgotten, db)
        } else if let forgotten {
            try RedemptionTable.removeAll(of: subscription, forgotten: forgotten, db)
        }
        try setCheck(of: subscription, original, facts, db)
        try ReviewTable.mark(subscription, db)
    }

    /// Sets the time of a subscription's next check: the end of its period, or a time before an outstanding signature
    /// of its customer releases its slot. If the check shows that the signature was redeemed, the slot is kept.
    /// - Parameter facts: all facts about the subscription.
    static func setCheck(
        of subscription: Int64, _ original: TransactionID, _ facts: [SubscriberFact], _ db: any Database
    ) throws {
        let answers = try db.rows([
            SubscriptionTable.environment(of: subscription),
            AuthorisationTable.nextCheck(
                of: original, subscription, after: facts.map(\.signedDate).max() ?? .min),
        ])
        guard let environment: String = try answers[0].first?["environment"] else {
            throw StoreError.unreadable("environment")
        }
        let ends = [
            NextCheck.time(after: facts, in: AppStoreEnvironment(rawValue: environment)),
            try AuthorisationTable.nextCheck(answers[1]),
        ]
        try SubscriptionTable.setCheck(subscription, ends.compactMap(\.self).min(), db)
    }
}
