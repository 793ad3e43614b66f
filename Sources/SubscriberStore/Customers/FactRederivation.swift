import OfferCore
import OfferEligibility

/// A replacement of the facts derived earlier from a payload by those derived now.
struct FactRederivation {
    private let db: any Database
    private let app: Int64
    private let payload: RereadPayload
    /// The facts derived now, with the announcements of their renewal infos.
    private let facts: [SubscriberFact]

    /// - Returns: the number of facts withdrawn.
    static func rederive(_ payload: RereadPayload, _ db: any Database) throws -> Int {
        // The payload may have been pruned or erased in the meantime.
        guard let app = try PayloadTable.app(of: payload.id.number, db) else { return 0 }
        let rederivation = FactRederivation(
            db: db, app: app, payload: payload, facts: payload.facts + payload.facts.announcements)
        let withdrawn = try rederivation.withdraw()
        try rederivation.merge()
        return withdrawn
    }

    private func withdraw() throws -> Int {
        let named = try PayloadTable.subscriptions(in: payload.id.number, db)
        return try Set(named + payload.facts.map(\.originalTransactionID)).reduce(0) { withdrawn, original in
            guard let subscription = try SubscriptionTable.id(of: original, app, db) else { return withdrawn }
            return try withdrawn + withdraw(from: subscription, original)
        }
    }

    private func withdraw(from subscription: Int64, _ original: TransactionID) throws -> Int {
        let facts = try FactTable.all(subscription, of: original, db)
        let wrong = facts.filter { payload.digests.contains($0.digest) && !self.facts.contains($0) }
        guard !wrong.isEmpty else { return 0 }
        for fact in wrong {
            try FactTable.delete(fact, subscription, db)
            try IdentifierTable.remove(fact, subscription, app, db)
        }
        let right = facts.filter { !wrong.contains($0) }
        // An identifier that another fact also names is kept.
        for fact in right { try IdentifierTable.add(fact, subscription, app, db) }
        if right.isEmpty && !payload.facts.contains(where: { $0.originalTransactionID == original }) {
            try RedemptionTable.removeAll(of: subscription, forgotten: .neverWas, db)
            try SubscriptionTable.retract(subscription, app, db)
        } else {
            try FactMerge.schedule(subscription, original, forgotten: .neverWas, db)
        }
        return wrong.count { !$0.key.kind.isAnnouncement && !isReplaced($0) }
    }

    private func isReplaced(_ fact: SubscriberFact) -> Bool {
        payload.facts.contains {
            $0.originalTransactionID == fact.originalTransactionID && $0.key == fact.key
                && $0.signedDate == fact.signedDate
        }
    }

    private func merge() throws {
        let subscriptions = try FactMerge(db: db, app: app).merge(payload.facts)
        try PayloadTable.removeMentions(in: payload.id.number, db)
        for subscription in subscriptions {
            try PayloadTable.addMention(of: subscription, in: payload.id.number, db)
        }
    }
}
