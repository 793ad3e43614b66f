import OfferCore

extension Subscription {
    /// - Parameter isGroupKnown: true if every period of the group is known.
    /// - Returns: nil if the timeline belongs to another subscription.
    init?(
        _ subscription: SubscriptionPeriods, in timeline: Timeline, _ signals: SubscriptionSignals,
        _ requests: PendingRefunds, _ environment: AppStoreEnvironment, _ timing: SubscriptionTiming,
        isGroupKnown: Bool, changesKnownSince: Timestamp?, at now: Timestamp
    ) {
        guard let place = timeline.current(of: subscription.originalTransactionID, at: now) else { return nil }
        let current = CurrentPeriod(place, in: timeline, of: subscription, signals, timing, at: now)
        let standing = current.standing(at: now)
        let run = SubscriptionRun(to: place, in: timeline, at: now)
        self.init(subscription, current.period, standing, run, environment)
        refundPending = requests.contains(originalTransactionID)
        billingErrors = signals.billingErrors.sorted()
        self.changesKnownSince = changesKnownSince
        if !subscription.isAnothers { paidFor = timeline.paidTime(to: place, at: now) }
        isPaidTimeWhole = subscription.isAnothers || isGroupKnown
        if let renewal = current.renewal {
            read(renewal, standing)
            // An active subscriber gets no win-back offers.
            areWinBackOffersKnown = hasAccess || endedAt.map { renewal.signedDate >= $0 } ?? false
        }
        // The renewal info may say that a commitment is over.
        autoRenewChange = signals.autoRenewChange(isCommitted: isCommitted)
    }

    private init(
        _ subscription: SubscriptionPeriods, _ period: Period, _ standing: Standing, _ run: SubscriptionRun,
        _ environment: AppStoreEnvironment
    ) {
        originalTransactionID = subscription.originalTransactionID
        transactionID = period.transactionID
        addedSeats = period.addedSeats.map(\.transactionID)
        productID = period.purchase.productID
        subscriptionGroupID = subscription.groupID
        self.environment = environment
        purchasedAt = period.start
        (status, settled) = standing.status
        (endedAt, endedBecause) = standing.end
        expiresAt = period.purchase.expiresDate
        renewals = subscription.isAnothers ? 0 : run.renewals
        (subscribedSince, isRunWhole) = (run.start, run.isWhole)
        firstPurchasedAt = subscription.periods.first { $0.transactionID == subscription.originalTransactionID }?.start
        lastPeriod = PeriodKind(period.purchase.offer)
        offerID = period.purchase.offer?.identifier
        ownership = subscription.ownership
        billingPlan = period.purchase.billingPlan
        commitment = period.purchase.commitment
        isCommitted = commitment != nil || billingPlan == .monthly
        hasRenewalInfo = false
        refunds = subscription.refunds
        billingErrors = []
        (paidFor, isPaidTimeWhole) = (.zero, false)
        (refundPending, winBackOffers, areWinBackOffersKnown, isStale) = (false, [], false, false)
    }

    private mutating func read(_ signed: Signed<Renewal>, _ standing: Standing) {
        let renewal = signed.value
        hasRenewalInfo = true
        // After its end, the renewal info has no commitment, and its other members say what follows.
        let isOver = hasEnded && endedAt.map { signed.signedDate >= $0 } ?? false
        isCommitted = renewal.commitment != nil || isCommitted && !isOver
        if isCommitted {
            autoRenews = renewal.commitment?.autoRenewStatus.map { $0 == .on }
            autoRenewProductID = renewal.commitment?.autoRenewProductID
        } else {
            autoRenews = renewal.autoRenewStatus == .on
            autoRenewProductID = renewal.autoRenewProductID
        }
        priceIncrease = renewal.priceIncreaseStatus.flatMap(PriceIncrease.init)
        winBackOffers = renewal.eligibleWinBackOfferIDs
        switch standing {
        case .active: pendingOffer = renewal.offer
        case .billingGracePeriod, .billingRetry:
            pendingOffer = renewal.offer
            gracePeriodExpiresAt = renewal.gracePeriodExpiresDate
        case .expired, .revoked, .unsettled: break
        }
    }
}

extension Standing {
    /// - Returns: the status on the wire, and whether it is settled.
    fileprivate var status: (Subscription.Status, Bool) {
        switch self {
        case .active: (.active, true)
        case .billingGracePeriod: (.billingGracePeriod, true)
        case .billingRetry: (.billingRetry, true)
        case .expired: (.expired, true)
        case .revoked: (.revoked, true)
        case .unsettled: (.expired, false)
        }
    }

    /// - Returns: the end of access, and its reason if it is final.
    fileprivate var end: (Timestamp?, Subscription.EndReason?) {
        switch self {
        case .active, .billingGracePeriod, .unsettled: (nil, nil)
        case .billingRetry(let since): (since, nil)
        case .expired(let at, let reason), .revoked(let at, let reason): (at, reason)
        }
    }
}
