import OfferCore
import OfferEligibility

/// The expected state, read off what happened instead of what was reported.
extension Life {
    private var retry: Int64 { day == 86_400_000 ? 60 * 86_400_000 : 7_200_000 }
    private var silence: Int64 { day == 86_400_000 ? 7 * 86_400_000 : 3_600_000 }

    /// The times at which the state may change without any news, each with its neighbours.
    var edges: [Timestamp] {
        var edges = [0, retry, silence].map { last.end.milliseconds + $0 }
        if case .failing(let grace?) = outlook { edges.append(grace.milliseconds) }
        edges += requests.values.map { $0.milliseconds + 60 * 86_400_000 }
        return edges.flatMap { edge in [edge - 1, edge, edge + 1].map(Timestamp.init(milliseconds:)) }
    }

    func expected(at now: Timestamp) -> Expected {
        var known = Expected()
        (known.originalTransactionID, known.transactionID, known.group) = (original, last.id, group)
        (known.productID, known.expiresAt) = (last.product, last.end)
        (known.autoRenews, known.autoRenewProductID) = (autoRenews, nextProduct)
        known.ownership = !isShared ? .purchased : share == .assigned ? .assigned : .familyShared
        let first = terms.first { $0.run == last.run }
        let start = first?.start
        known.isRunWhole = first?.id == original || first?.isSignedWithSeats == false
        if last.run == 0, let inherited { known.isRunWhole = inherited.isRunWhole }
        known.subscribedSince = last.run == 0 ? inherited?.start ?? start : start
        known.renewals = isShared ? 0 : renewals
        let kinds: [OfferType: Subscription.PeriodKind] = [
            .introductory: .trial, .promotional: .promotional, .offerCode: .offerCode, .winBack: .winBack,
            .retention: .retention,
        ]
        known.lastPeriod = last.offer.flatMap { kinds[$0.type] } ?? .regular
        known.offerID = last.offer?.identifier
        known.priceIncrease = priceIncrease.map { $0 == .accepted ? .accepted : .pending }
        known.winBackOffers = winBackOffers
        let refunds = terms.flatMap { term in
            let refunds = [(term.id, term.refund?.date)] + term.addedSeats.map { ($0.id, $0.refund) }
            return refunds.compactMap { id, date in date.map { "\(id) \($0.milliseconds)" } }
        }
        known.refunded = isShared ? [] : refunds
        known.refundPending = requests.values.contains { now.milliseconds < $0.milliseconds + 60 * 86_400_000 }
        judge(&known, at: now)
        if [.active, .billingGracePeriod, .billingRetry].contains(known.status) { known.pendingOffer = pending }
        return known
    }

    /// The renewals of the last run that count. A replaced term does not.
    private var renewals: Int {
        let renewals = terms.filter { $0.run == last.run && $0.isRenewal && $0.price > 0 }
        let count = renewals.count { $0.refund == nil && !$0.isUpgraded && !($0.id == last.id && isReplaced) }
        return count + (last.run == 0 ? inherited?.renewals ?? 0 : 0)
    }

    /// Whether another purchase in the group cut the last term short.
    var isReplaced: Bool { successorStart.map { $0 < last.end } ?? false }

    /// What a purchase goes on with: the run, if the customer still has access.
    func inheritance(at time: Timestamp) -> Inheritance? {
        guard time <= min(last.end, last.refund?.date ?? last.end) else { return nil }
        let expected = expected(at: time)
        return expected.subscribedSince.map {
            Inheritance(start: $0, renewals: renewals, isRunWhole: expected.isRunWhole)
        }
    }

    /// Whether every term is known without a gap, to one that runs or to an end that was stated.
    func isKnownThroughout(at now: Timestamp) -> Bool {
        // More seats may have been added in a transaction that is missing.
        guard terms.allSatisfy(\.addedSeats.isEmpty) else { return false }
        for (term, next) in zip(terms, terms.dropFirst()) {
            let gap = next.start.milliseconds - min(term.end, term.refund?.date ?? term.end).milliseconds
            let lengths = [term, next].map { $0.end.milliseconds - $0.start.milliseconds }
            // What was bought and refunded within the period may be hidden.
            if gap <= 0, !next.isRenewal, next.start < term.end { return false }
            if gap > 0, !next.isRenewal || gap * 4 > lengths[0] * 3 || gap * 4 > lengths[1] * 3 { return false }
        }
        if last.refund != nil || now < last.end { return true }
        guard let lastRenewal, lastRenewal.signedDate >= last.end else { return false }
        if case .running = outlook { return !autoRenews && !isBound }
        return true
    }

    /// The accounts of the app that own the subscription.
    func expectedOwners(_ policy: OwnershipPolicy) -> [UUIDText] {
        let bought = terms.flatMap { [$0.token] + $0.addedSeats.map(\.token) }
        let claims = (bought + [token]).compactMap { $0 }
        switch policy {
        case .first: return Array(claims.prefix(1))
        case .transfer: return Array(claims.suffix(1))
        case .share: return claims.enumerated().filter { !claims[..<$0.offset].contains($0.element) }.map(\.element)
        }
    }

    private func judge(_ known: inout Expected, at now: Timestamp) {
        func end(_ status: Subscription.Status, _ at: Timestamp, _ reason: Subscription.EndReason?) {
            (known.status, known.endedAt, known.endedBecause) = (status, at, reason)
        }
        let over = now.milliseconds - last.end.milliseconds
        if let refund = last.refund { return end(.revoked, min(refund.date, last.end), isShared ? .other : .refunded) }
        if isReplaced, let successorStart { return end(.expired, successorStart, .other) }
        if over < 0 { return }
        switch outlook {
        case .ended(let reason): end(.expired, last.end, reason)
        case .failing(let grace?) where now < grace:
            (known.status, known.gracePeriodExpiresAt) = (.billingGracePeriod, grace)
        case .failing(let grace) where over <= retry:
            known.gracePeriodExpiresAt = grace
            end(.billingRetry, grace ?? last.end, nil)
        case .failing(let grace): end(.expired, grace ?? last.end, .billing)
        case .running where !autoRenews && !isBound: end(.expired, last.end, .cancelled)
        case .running where over < silence: (known.status, known.settled) = (.expired, false)
        case .running: end(.expired, last.end, .other)
        }
    }

    /// In a history, every redemption has an offer ID of its own. A share redeems nothing.
    var expectedRedemptions: Set<ExpectedRedemption> {
        guard !isShared else { return [] }
        var redemptions: [String: ExpectedRedemption] = [:]
        if let id = pending?.identifier, let lastRenewal {
            redemptions[id] = ExpectedRedemption(
                offerID: id, productID: nextProduct, transactionID: nil, at: lastRenewal.signedDate)
        }
        for term in terms {
            for seats in term.addedSeats {
                guard let id = seats.offer?.identifier else { continue }
                redemptions[id] = ExpectedRedemption(
                    offerID: id, productID: term.product, transactionID: seats.id, at: seats.start)
            }
        }
        for term in terms.reversed() {
            guard let id = term.offer?.identifier else { continue }
            redemptions[id] = ExpectedRedemption(
                offerID: id, productID: term.product, transactionID: term.id, at: term.start)
        }
        return Set(redemptions.values)
    }
}
