extension SubscriberState {
    /// Derives the state from the facts about one customer in one app and environment.
    ///
    /// - Parameters:
    ///   - groups: the subscription group of each product, for receipts, which do not name it.
    ///   - given: whether a history was given as complete. A receipt among the facts is one.
    ///   - onlyGiven: whether a history is whole only if the App Store has given it as complete, and a receipt of it is new. By
    ///     default, one that is known from each first transaction on is whole too.
    package init(
        of facts: SubscriberFacts, environment: AppStoreEnvironment, groups: [ProductID: String] = [:],
        given: HistoryExtent = .partial, onlyGiven: Bool = false, at now: Timestamp
    ) {
        let transactions = KnownTransaction.all(in: facts)
        let subscriptions = SubscriptionPeriods.all(of: transactions, groups: groups)
        let signals = SubscriptionSignals.all(in: facts)
        let requests = PendingRefunds(facts, transactions, at: now)
        history = given == .whole ? .whole : HistoryExtent(facts, subscriptions, onlyGiven: onlyGiven, at: now)
        refundPending = !requests.isEmpty
        readOtherPurchases(transactions)
        for subscription in subscriptions {
            readOffers(of: subscription, signals[subscription.originalTransactionID]?.renewal)
            refunds += subscription.refunds
        }
        refunds.sort { $0.at == $1.at ? $0.transactionID.precedes($1.transactionID) : $0.at < $1.at }
        let timing = SubscriptionTiming(environment)
        let timelines = Timelines(subscriptions, timing)
        self.subscriptions = subscriptions.compactMap { subscription in
            let signals = signals[subscription.originalTransactionID] ?? SubscriptionSignals()
            return timelines[subscription].flatMap { timeline in
                Subscription(subscription, in: timeline, signals, requests, environment, timing, at: now)
            }
        }
    }

    private mutating func readOtherPurchases(_ transactions: [KnownTransaction]) {
        for transaction in transactions where !transaction.purchase.isSubscriptionPeriod {
            let purchase = transaction.purchase
            if purchase.type == .nonConsumable, purchase.revocation == nil {
                nonConsumables.insert(purchase.productID)
            }
            if let refund = Refund(transaction.transactionID, purchase, isFamilyShared: purchase.isFamilyShared) {
                refunds.append(refund)
            }
        }
    }

    private mutating func readOffers(of subscription: SubscriptionPeriods, _ renewal: Signed<Renewal>?) {
        redemptions += Redemption.all(of: subscription, renewal)
        hasOwnSubscription = hasOwnSubscription || !subscription.isFamilyShared
        guard subscription.periods.contains(where: { $0.purchase.offer?.type == .introductory }) else { return }
        if let group = subscription.groupID {
            introductoryGroups.insert(group)
        } else {
            usedIntroductoryOfferSomewhere = true
        }
    }
}

extension HistoryExtent {
    /// The age up to which a receipt says that a customer never used an offer, where that alone gives one.
    package static let receiptAge = Duration.hours(24)

    fileprivate init(
        _ facts: SubscriberFacts, _ subscriptions: [SubscriptionPeriods], onlyGiven: Bool, at now: Timestamp
    ) {
        // A receipt and a history each cover one Apple Account. Another subscription of the customer may belong to another one.
        let given = Set(
            facts.lazy.filter { fact in
                fact.key.kind == .wholeHistory
                    || fact.key.kind == .receiptTransaction
                        && (!onlyGiven || now - fact.signedDate <= Self.receiptAge)
            }.map(\.originalTransactionID))
        let isKnown = subscriptions.allSatisfy {
            !onlyGiven && $0.isKnownFromStart || given.contains($0.originalTransactionID)
        }
        self = isKnown && !(given.isEmpty && subscriptions.isEmpty) ? .whole : .partial
    }
}
