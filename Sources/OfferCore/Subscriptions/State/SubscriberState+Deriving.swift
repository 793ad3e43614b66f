extension SubscriberState {
    /// Derives the state from the facts about one customer in one app and environment.
    ///
    /// - Parameters:
    ///   - groups: the subscription group of each product, for receipts, which do not name it.
    ///   - given: whether a history was given as complete. A receipt among the facts is one.
    package init(
        of facts: SubscriberFacts, environment: AppStoreEnvironment, groups: [ProductID: String] = [:],
        given: HistoryExtent = .partial, at now: Timestamp
    ) {
        let transactions = KnownTransaction.all(in: facts)
        let subscriptions = SubscriptionPeriods.all(of: transactions, groups: groups)
        let signals = SubscriptionSignals.all(in: facts)
        let requests = PendingRefunds(facts, transactions, at: now)
        history = given == .whole ? .whole : HistoryExtent(facts, subscriptions)
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
    fileprivate init(_ facts: SubscriberFacts, _ subscriptions: [SubscriptionPeriods]) {
        let hasReceipt = facts.contains { $0.key.kind == .receiptTransaction }
        let isKnownFromStart = !subscriptions.isEmpty && subscriptions.allSatisfy(\.isKnownFromStart)
        self = hasReceipt || isKnownFromStart ? .whole : .partial
    }
}
