package import OfferCore

extension SubscriberState {
    /// Derives the state from the facts about one customer in one app and environment.
    ///
    /// - Parameters:
    ///   - groups: the subscription group of each product. Receipts do not contain groups.
    ///   - familySharable: the products that can be family-shared. Receipts do not contain the ownership.
    ///   - evidence: determines if a complete history in the facts still counts.
    ///   - oldBefore: the time before which data is too old; nil unless the App Store did not answer a refresh in time.
    package init(
        of facts: SubscriberFacts, environment: AppStoreEnvironment, groups: [ProductID: String] = [:],
        familySharable: Set<ProductID> = [], evidence: HistoryEvidence = HistoryEvidence(),
        oldBefore: Timestamp? = nil, at now: Timestamp
    ) {
        let transactions = KnownTransaction.all(in: facts)
        let subscriptions = SubscriptionPeriods.all(
            of: transactions, groups: groups, familySharable: familySharable)
        let signals = SubscriptionSignals.all(in: facts)
        let requests = PendingRefunds(facts, transactions, at: now)
        isAppStoreSilent = oldBefore != nil || evidence.isAppStoreSilent
        history = KnownHistory(facts, subscriptions, signals, evidence, at: now)
        appleAccounts = Set(facts.lazy.compactMap(\.appTransactionID))
        storefront = transactions.last { !$0.purchase.isAnothers }?.purchase.storefront
        refundPending = !requests.isEmpty
        areRefundRequestsKnown = subscriptions.isEmpty ? history.isOfApp : requests.areKnown(of: subscriptions)
        readOtherPurchases(transactions)
        purchases = OneTimePurchase.all(of: transactions, familySharable: familySharable)
        for subscription in subscriptions {
            readOffers(of: subscription, signals[subscription.originalTransactionID])
            refunds += subscription.refunds
        }
        refunds.sort { $0.at == $1.at ? $0.transactionID.precedes($1.transactionID) : $0.at < $1.at }
        let timing = SubscriptionTiming(environment)
        let timelines = Timelines(subscriptions, timing)
        self.subscriptions = subscriptions.compactMap { subscription in
            let signals = signals[subscription.originalTransactionID] ?? SubscriptionSignals()
            return timelines[subscription].flatMap { timeline in
                Subscription(
                    subscription, in: timeline, signals, requests, environment, timing,
                    isGroupKnown: history.isOfApp || subscription.groupID.map(history.groups.contains) ?? false,
                    changesKnownSince: evidence.changesKnownSince(at: now), at: now)
            }
        }
        if let oldBefore { markOld(before: oldBefore, facts) }
    }

    private mutating func markOld(before time: Timestamp, _ facts: SubscriberFacts) {
        var newest: [TransactionID: Timestamp] = [:]
        for fact in facts {
            newest[fact.originalTransactionID] = max(newest[fact.originalTransactionID] ?? .min, fact.signedDate)
        }
        for place in subscriptions.indices {
            let last = newest[subscriptions[place].originalTransactionID] ?? .min
            subscriptions[place].isStale = last < time
        }
    }

    private mutating func readOtherPurchases(_ transactions: [KnownTransaction]) {
        for transaction in transactions where !transaction.purchase.isSubscriptionPeriod {
            let purchase = transaction.purchase
            if purchase.type == .nonConsumable, purchase.revocation == nil {
                nonConsumables.insert(purchase.productID)
            }
            if let refund = Refund(transaction.transactionID, purchase, isAnothers: purchase.isAnothers) {
                refunds.append(refund)
            }
        }
    }

    private mutating func readOffers(of subscription: SubscriptionPeriods, _ signals: SubscriptionSignals?) {
        redemptions += Redemption.all(of: subscription, signals)
        hasOwnSubscription = hasOwnSubscription || subscription.ownership == .purchased
        hasUnclearSubscription = hasUnclearSubscription || subscription.ownership == nil
        // The offer of a family share or a seat was used by its purchaser, not by this customer.
        guard !subscription.isAnothers,
            subscription.periods.contains(where: { $0.purchase.offer?.type == .introductory })
        else { return }
        if let group = subscription.groupID {
            introductoryGroups.insert(group)
        } else {
            usedIntroductoryOfferSomewhere = true
        }
    }
}
