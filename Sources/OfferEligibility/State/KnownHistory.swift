package import OfferCore

/// The parts of a customer's history that are complete enough to answer "never".
package struct KnownHistory: Hashable, Sendable {
    /// True if every purchase in the app is known.
    package var isOfApp: Bool
    /// The groups whose known subscriptions have no gaps. For such a group, "never" is known only for redemptions of
    /// its products and for their refunds.
    package var groups: Set<String>
    /// True if every refund of a consumable would be known.
    var tellsOfConsumables: Bool

    package init(isOfApp: Bool = false, groups: Set<String> = [], tellsOfConsumables: Bool = true) {
        self.isOfApp = isOfApp
        self.groups = groups
        self.tellsOfConsumables = tellsOfConsumables
    }
}

/// The evidence that a complete history is still complete.
package struct HistoryEvidence: Hashable, Sendable {
    /// A time span for which every App Store notification is known.
    package struct Coverage: Hashable, Sendable {
        package let since: Timestamp
        package let until: Timestamp
        /// The time since which changes of renewals were also recorded; nil if they are not.
        package let changesSince: Timestamp?

        package init(since: Timestamp, until: Timestamp, changesSince: Timestamp? = nil) {
            self.since = since
            self.until = until
            self.changesSince = changesSince
        }
    }

    /// The maximum age of a history that counts without other evidence.
    package let freshness: Duration
    /// The span for which Apple's notification history was read without a gap; nil if there is none.
    package let coverage: Coverage?
    /// False if some data in the request or the store was not read. In that case, no history is complete.
    package let isEverythingRead: Bool
    /// False if some consumables were not read.
    package let areConsumablesRead: Bool
    /// The date of a complete history without purchases, from a receipt or the App Store; nil if there is none.
    package let emptyHistoryDate: Timestamp?
    /// True if the App Store did not answer a refresh of the history in time.
    package let isAppStoreSilent: Bool

    package init(
        freshness: Duration = Self.defaultFreshness, coverage: Coverage? = nil, isEverythingRead: Bool = true,
        areConsumablesRead: Bool = true, emptyHistoryDate: Timestamp? = nil, isAppStoreSilent: Bool = false
    ) {
        self.freshness = freshness
        self.coverage = coverage
        self.isEverythingRead = isEverythingRead
        self.areConsumablesRead = areConsumablesRead
        self.emptyHistoryDate = emptyHistoryDate
        self.isAppStoreSilent = isAppStoreSilent
    }

    package static let defaultFreshness = Duration.hours(24)

    func isFresh(_ date: Timestamp, at now: Timestamp) -> Bool { now - date <= freshness }

    /// Returns the time since which every change of a renewal is known; nil if a recent one may be missing.
    func changesKnownSince(at now: Timestamp) -> Timestamp? {
        guard isEverythingRead, !isAppStoreSilent, let coverage, isFresh(coverage.until, at: now) else { return nil }
        return coverage.changesSince.map { max($0, coverage.since) }
    }

    /// Returns true if a history that was complete at a date still counts. It must be fresh, or every notification
    /// since then must be known.
    package func stillCounts(_ date: Timestamp, at now: Timestamp) -> Bool {
        if isFresh(date, at: now) { return true }
        guard let coverage else { return false }
        return coverage.since <= date && now - coverage.until <= freshness
    }
}

extension KnownHistory {
    /// - Parameters:
    ///   - facts: all facts that count for the customer.
    ///   - subscriptions: the subscriptions in the facts.
    ///   - signals: the signals of each subscription.
    init(
        _ facts: SubscriberFacts, _ subscriptions: [SubscriptionPeriods],
        _ signals: [TransactionID: SubscriptionSignals], _ evidence: HistoryEvidence, at now: Timestamp
    ) {
        guard evidence.isEverythingRead else {
            self.init(tellsOfConsumables: false)
            return
        }
        let sources = HistorySources(facts)
        let isEmpty =
            sources.isEmpty && (evidence.emptyHistoryDate.map { evidence.isFresh($0, at: now) } ?? false)
        self.init(
            isOfApp: isEmpty || !sources.isEmpty && sources.gaps(evidence, at: now).isEmpty,
            groups: sources.appleAccounts.count > 1
                ? [] : Self.wholeGroups(subscriptions, signals, evidence, at: now),
            tellsOfConsumables: evidence.areConsumablesRead)
    }

    /// Returns the purchases whose history to fetch from the App Store. These are one for each Apple Account without a
    /// complete history, and each purchase without an Apple Account that no fresh history contains.
    package static func gaps(
        in facts: SubscriberFacts, _ evidence: HistoryEvidence, at now: Timestamp
    ) -> [TransactionID] {
        HistorySources(facts).gaps(evidence, at: now)
    }

    /// Returns the groups in which the customer's own subscriptions are known and have no gaps. A subscription in an unknown
    /// group may belong to any group, so the result is then empty.
    ///
    /// A family share or a seat says nothing about what the customer bought: it has an `originalTransactionId` of its own,
    /// beside that of the customer's earlier subscription in the group. A subscription whose ownership is not known may be
    /// one.
    private static func wholeGroups(
        _ subscriptions: [SubscriptionPeriods], _ signals: [TransactionID: SubscriptionSignals],
        _ evidence: HistoryEvidence, at now: Timestamp
    ) -> Set<String> {
        var (known, others): (Set<String>, Set<String>) = ([], [])
        for subscription in subscriptions where !subscription.isAnothers {
            guard let group = subscription.groupID else { return [] }
            let id = subscription.originalTransactionID
            let isKnown = subscription.isKnownThroughout(signals[id] ?? SubscriptionSignals(), at: now) {
                evidence.stillCounts($0, at: now)
            }
            if !isKnown {
                others.insert(group)
            } else if subscription.ownership == .purchased {
                known.insert(group)
            }
        }
        return known.subtracting(others)
    }
}

/// The complete histories among a customer's facts: those from the App Store, and receipts.
///
/// Each history covers one Apple Account, which any of its purchases can identify. Only a fresh history that contains
/// it covers a purchase without an Apple Account, because later notifications cannot be assigned to that account.
private struct HistorySources {
    private struct Purchase {
        let original: TransactionID
        var appleAccount: TransactionID?
        /// The latest date of a history that contains the purchase.
        var date: Timestamp?
    }

    private let purchases: [Purchase]

    init(_ facts: SubscriberFacts) {
        var purchases: [TransactionID: Purchase] = [:]
        for fact in facts {
            var purchase = purchases[fact.originalTransactionID] ?? Purchase(original: fact.originalTransactionID)
            if let id = fact.appTransactionID, purchase.appleAccount.map({ $0.precedes(id) }) ?? true {
                purchase.appleAccount = id
            }
            switch fact.key.kind {
            case .wholeHistory, .receiptTransaction: purchase.date = max(purchase.date ?? .min, fact.signedDate)
            case .transaction, .renewalInfo, .status, .refundRequest, .expiryReason, .fetchedTransaction,
                .fetchedRenewalInfo, .firstAnnouncement, .lastAnnouncement, .renewalChange:
                break
            }
            purchases[fact.originalTransactionID] = purchase
        }
        self.purchases = Array(purchases.values)
    }

    var isEmpty: Bool { purchases.isEmpty }

    var appleAccounts: Set<TransactionID> { Set(purchases.compactMap(\.appleAccount)) }

    /// - Returns: one purchase of each Apple Account that no history covers, and the uncovered ones without an Apple
    ///   Account, the highest identifier first.
    func gaps(_ evidence: HistoryEvidence, at now: Timestamp) -> [TransactionID] {
        let covering = purchases.filter { $0.date.map { evidence.stillCounts($0, at: now) } ?? false }
        let covered = Set(covering.compactMap(\.appleAccount))
        var seen = covered
        return purchases.sorted { $1.original.precedes($0.original) }.filter { purchase in
            guard let id = purchase.appleAccount else {
                return !(purchase.date.map { evidence.isFresh($0, at: now) } ?? false)
            }
            return seen.insert(id).inserted
        }.map(\.original)
    }
}
