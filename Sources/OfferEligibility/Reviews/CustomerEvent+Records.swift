package import OfferCore

extension CustomerEvent {
    /// The time after which a signature counts. If it could not be made, it is withdrawn before.
    private static let signingTime = Duration.seconds(10)

    /// Returns the time until which a review waits; nil if it need not wait. A signature may be withdrawn before that time,
    /// and what follows it must not be sent first. A signature that is redeemed was made.
    package static func wait(for authorisations: [Authorisation], at now: Timestamp) -> Timestamp? {
        groups(of: authorisations).compactMap { signatures -> Timestamp? in
            guard let first = signatures.first, !signatures.isRedeemed, first.at <= now else { return nil }
            return first.at + signingTime
        }.filter { now < $0 }.max()
    }

    /// Returns the events that a customer's records show. They do not depend on the order in which the records arrived.
    /// - Parameters:
    ///   - authorisations: the customer's authorisations.
    ///   - redemptions: the customer's redemptions.
    ///   - openings: the times at which the customer first opened personal links, by the IDs of their grants.
    package static func recorded(
        of customer: OwnedCustomer, _ state: SubscriberState, _ periods: [SubscriptionPeriod],
        _ authorisations: [Authorisation], _ redemptions: [CountedRedemption],
        openings: [UUIDText: Timestamp] = [:], at now: Timestamp
    ) -> [CustomerEvent] {
        let ofSignatures = groups(of: authorisations).flatMap { Self.events(of: $0, customer.exposures, at: now) }
        let events =
            ofSignatures + ofRedemptions(redemptions, customer.exposures, periods) + ofPayments(customer.facts)
            + ofEnds(state.subscriptions)
            + ofGrants(customer.grants, customer.exposures, openings)
            + customer.events.filter { $0.kind == .shown }.map { shown in
                CustomerEvent(
                    .shown, at: shown.at, productID: shown.productID, offerID: shown.offerID.text.description,
                    placement: customer.exposures.placement(of: shown.productID, shown.offerID))
            }
        var known: Set<String> = []
        return events.filter { $0.at <= now && known.insert($0.key).inserted }
    }

    /// Returns the signatures of each offer that overlap, the first one first. They are one event: they share a place under
    /// the limits, and one of them is enough.
    private static func groups(of authorisations: [Authorisation]) -> [[Authorisation]] {
        let issued = authorisations.filter { $0.state != .withdrawn }
        let offers = Dictionary(grouping: issued) { [$0.productID.text.description, $0.offerID.text.description] }
        return offers.values.flatMap { signatures -> [[Authorisation]] in
            var groups: [[Authorisation]] = []
            for signature in signatures.sorted(by: { $0.at < $1.at }) {
                if let end = groups.last?.map(\.expiresAt).max(), signature.at < end {
                    groups[groups.count - 1].append(signature)
                } else {
                    groups.append([signature])
                }
            }
            return groups
        }
    }

    /// - Parameter signatures: signatures of one offer that overlap, the first one first.
    private static func events(
        of signatures: [Authorisation], _ exposures: [Exposure], at now: Timestamp
    ) -> [CustomerEvent] {
        guard let first = signatures.first, let end = signatures.map(\.expiresAt).max() else { return [] }
        func event(_ kind: Kind, at time: Timestamp) -> CustomerEvent {
            CustomerEvent(
                kind, at: time, productID: first.productID, offerID: first.offerID.text.description,
                rule: first.source?.rule, placement: exposures.placement(of: first.productID, first.offerID))
        }
        guard signatures.isRedeemed || first.at + signingTime <= now else { return [] }
        let isUnused = end <= now && !signatures.isRedeemed
        return [event(.signed, at: first.at)] + (isUnused ? [event(.expiredUnused, at: end)] : [])
    }

    private static func ofRedemptions(
        _ redemptions: [CountedRedemption], _ exposures: [Exposure], _ periods: [SubscriptionPeriod]
    ) -> [CustomerEvent] {
        redemptions.flatMap { redemption in
            let placement = exposures.placement(of: redemption.productID, redemption.offerID)
            let identity = [
                "\(redemption.originalTransactionID.text)", "\(redemption.productID.text)", redemption.offerID,
                "\(redemption.ordinal)",
            ].joined(separator: "\0")
            func event(_ kind: Kind, at time: Timestamp, of productID: ProductID) -> CustomerEvent {
                CustomerEvent(
                    kind, identity, at: time, productID: productID, offerID: redemption.offerID, rule: redemption.rule,
                    placement: placement)
            }
            let renewal = renewal(after: redemption, periods).flatMap { period in
                // It follows the last offer before it.
                redemptions.contains { other in
                    other.originalTransactionID == redemption.originalTransactionID && other.at > redemption.at
                        && other.at <= period.start
                } ? nil : period
            }
            return [event(.redeemed, at: redemption.firstAt, of: redemption.productID)]
                + (redemption.isAlarm ? [event(.alarm, at: redemption.firstAt, of: redemption.productID)] : [])
                + (renewal.map { [event(.renewedAfterOffer, at: $0.start, of: $0.productID)] } ?? [])
        }
    }

    /// Returns the first period at the regular price after an offer, if the subscription went on without a gap that is longer
    /// than billing retry.
    private static func renewal(
        after redemption: CountedRedemption, _ periods: [SubscriptionPeriod]
    ) -> SubscriptionPeriod? {
        let own = periods.filter { $0.originalTransactionID == redemption.originalTransactionID }
            .sorted { $0.start < $1.start }
        var end = redemption.at
        for period in own where period.start >= redemption.at {
            guard period.start <= end + .days(60) else { return nil }
            if period.start > redemption.at, period.kind == .regular { return period.refundedAt == nil ? period : nil }
            end = max(end, period.end)
        }
        return nil
    }

    private static func ofPayments(_ facts: SubscriberFacts) -> [CustomerEvent] {
        facts.compactMap { fact in
            guard case .renewalChange(let change) = fact.value else { return nil }
            let kind: Kind
            switch (change.type, change.subtype) {
            case (RenewalChange.billingErrorType, _): kind = .paymentFailed
            case ("DID_RENEW", "BILLING_RECOVERY"): kind = .paymentRecovered
            default: return nil
            }
            return CustomerEvent(
                kind, fact.key.id.text.description, at: fact.signedDate, productID: change.renewal.productID)
        }
    }

    private static func ofEnds(_ subscriptions: [Subscription]) -> [CustomerEvent] {
        subscriptions.compactMap { subscription in
            subscription.endedAt.map { end in
                // The end may become known more exactly later.
                CustomerEvent(
                    .lost, "\(subscription.originalTransactionID.text) \(subscription.purchasedAt.milliseconds)",
                    at: end,
                    productID: subscription.productID, reason: subscription.endedBecause?.rawValue)
            }
        }
    }

    private static func ofGrants(
        _ grants: [OfferGrant], _ exposures: [Exposure], _ openings: [UUIDText: Timestamp]
    ) -> [CustomerEvent] {
        grants.compactMap { grant in
            let at: Timestamp
            switch grant.approval {
            case .needed: return nil
            // A grant by link is as old as the link.
            case .notNeeded: at = openings[grant.id] ?? grant.at
            case .given(let act): at = act.at
            }
            return CustomerEvent(
                .grantOpened, "\(grant.id)", at: at, productID: grant.productID,
                offerID: grant.offerID.text.description,
                rule: OfferGrant.ruleName, placement: exposures.placement(of: grant.productID, grant.offerID))
        }
    }
}

extension [Authorisation] {
    fileprivate var isRedeemed: Bool { contains { $0.state == .redeemed } }
}

extension [Exposure] {
    /// The place in the app where the customer first had an offer; nil if it is unknown.
    func placement(of productID: ProductID, _ offerID: String) -> String? {
        filter { $0.productID == productID && $0.offerID?.text.description == offerID }.min { $0.at < $1.at }?.placement
    }

    fileprivate func placement(of productID: ProductID, _ offerID: OfferID) -> String? {
        filter { $0.productID == productID && $0.offerID == offerID }.min { $0.at < $1.at }?.placement
    }
}
