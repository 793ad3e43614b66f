import OfferCore

extension CustomerTest {
    func truth(in context: EvaluationContext) -> Truth {
        let state = context.facts.state
        switch self {
        case .everSubscribed(let expected): return Truth(state.everSubscribed.map { $0 == expected })
        case .usedIntroductoryOffer(let expected):
            guard let groupID = context.groupID else { return .unknown }
            return Truth(state.usedIntroductoryOffer(inGroup: groupID).map { $0 == expected })
        case .refunded(let test): return test.truth(in: context)
        case .refundPending(let expected): return Truth(state.hasRefundRequest.map { $0 == expected })
        case .redeemed(let test):
            let count = test.redemptions(in: context).count
            return context.knowsAllRedemptions(of: test.offers)
                ? Truth(test.count.contains(count)) : test.count.contains(atLeast: count)
        case .winBackOffers(let test): return test.truth(in: context)
        case .owns(let products): return .any(products.lazy.map { Truth(state.owns($0)) })
        case .originalAppVersion(let range): return Truth(context.facts.originalAppVersion.map(range.contains))
        case .originalPurchase(let range): return Truth(context.facts.originalPurchase.map(range.contains))
        case .fact(let test): return test.truth(of: context.facts.team[test.name])
        case .date(let range): return Truth(range.contains(context.now))
        case .share(let test): return Truth(test.position(in: context).map { $0 < test.share })
        case .environment(let environments): return Truth(environments.contains(context.facts.environment))
        }
    }
}

extension RefundTest {
    func refunds(in context: EvaluationContext) -> [Refund] {
        context.facts.state.refunds.filter { refund in
            context.isWithin(within, refund.at)
                && (reasons.map { reasons in refund.reason.map(reasons.contains) ?? true } ?? true)
        }
    }

    fileprivate func truth(in context: EvaluationContext) -> Truth {
        let found = refunds(in: context)
        // A refund in a receipt has no reason.
        let isCertain = reasons == nil || found.contains { $0.reason != nil }
        if !found.isEmpty { return isCertain ? Truth(expected) : .unknown }
        return context.facts.state.areRefundsKnown ? Truth(!expected) : .unknown
    }
}

extension RedemptionTest {
    func redemptions(in context: EvaluationContext) -> [Redemption] {
        context.facts.state.redemptions.filter { redemption in
            redemption.type == .promotional && offers.map { $0.contains(redemption.offerID) } ?? true
                && context.isWithin(within, redemption.at)
        }
    }
}

extension WinBackTest {
    fileprivate func truth(in context: EvaluationContext) -> Truth {
        // The App Store names its offers in a renewal info.
        guard let subscription = context.subscription, subscription.autoRenews != nil, !subscription.isStale else {
            return .unknown
        }
        let (offers, isKnown) = (subscription.winBackOffers, subscription.areWinBackOffersKnown)
        switch self {
        case .none: return offers.isEmpty && !isKnown ? .unknown : Truth(offers.isEmpty)
        case .any: return offers.isEmpty && !isKnown ? .unknown : Truth(!offers.isEmpty)
        case .offers(let ids): return offers.contains(where: ids.contains) ? .yes : isKnown ? .no : .unknown
        }
    }
}

extension ShareTest {
    /// The customer's place in the sample, from 0 to 1, which never changes.
    ///
    /// It depends on the Apple Account, which any one transaction names. If no data names one, it depends on the earliest
    /// subscription.
    /// - Returns: nil if an unknown purchase could change the place. Without an Apple Account, and with several, the history
    ///   must be complete. Otherwise customers could choose the place by the purchases that they show.
    package func position(in context: EvaluationContext) -> Double? {
        let state = context.facts.state
        if state.appleAccounts.count == 1 { return state.appleAccounts.first.map { Self.position(of: $0, in: name) } }
        guard state.history.isOfApp else { return nil }
        let ids =
            state.appleAccounts.isEmpty
            ? state.subscriptions.map(\.originalTransactionID) : Array(state.appleAccounts)
        return ids.min { $0.precedes($1) }.map { Self.position(of: $0, in: name) }
    }

    private static func position(of id: TransactionID, in name: String) -> Double {
        // FNV-1a, with the finalizer of MurmurHash3, because the last bytes of an ID differ most.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in Array(name.utf8) + [0] + Array(id.text.utf8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        hash = (hash ^ hash >> 33) &* 0xFF51_AFD7_ED55_8CCD
        hash = (hash ^ hash >> 33) &* 0xC4CE_B9FE_1A85_EC53
        return Double((hash ^ hash >> 33) >> 11) / Double(1 << 53)
    }
}
