import OfferCore

extension SubscriberFact {
    /// Returns the facts that preserve a renewal info's data about the next period's offer, because a later renewal
    /// info replaces that data.
    ///
    /// For each period, the first and the last renewal info with an offer are kept, and the first without one. Together
    /// they show whether a running offer was redeemed again. The order of arrival does not matter.
    /// - Parameter others: facts that arrived with this one. If they show that the period has no promotional offer, a
    ///   renewal info without an offer is not recorded.
    package func announcements(beside others: some Sequence<SubscriberFact>) -> [SubscriberFact] {
        guard case .renewalInfo(let renewal) = value else { return [] }
        if renewal.isPromotional {
            return [
                announcement(.firstAnnouncement(renewal.announcing)),
                announcement(.lastAnnouncement(renewal.announcing)),
            ]
        }
        let hasOffers = others.compactMap { hasPromotionalOffer($0, duringPeriodOf: renewal) }
        guard renewal.canShowNoOffer, !hasOffers.contains(false) else { return [] }
        return [announcement(.firstAnnouncement(renewal.announcing))]
    }

    /// Returns the announcements of a renewal info that version 0.9.0 stored. That version kept no announcements.
    ///
    /// The facts that arrived with it are no longer known. So one without an offer is announced only if an offer ran
    /// in its period.
    /// - Parameter others: all facts about the subscription.
    package func announcements(storedBeside others: some Sequence<SubscriberFact>) -> [SubscriberFact] {
        guard case .renewalInfo(let renewal) = value else { return [] }
        let runs = renewal.isPromotional || others.contains { hasPromotionalOffer($0, duringPeriodOf: renewal) == true }
        return runs ? announcements(beside: others) : []
    }

    private func announcement(_ value: Value) -> SubscriberFact {
        SubscriberFact(
            value, transactionID: key.id, originalTransactionID: originalTransactionID, signedDate: signedDate,
            digest: digest)
    }

    /// Returns true if a fact is a transaction of the renewal info's period with a promotional offer, false if it has
    /// none; nil for any other fact.
    private func hasPromotionalOffer(_ fact: SubscriberFact, duringPeriodOf renewal: Renewal) -> Bool? {
        guard case .transaction(let purchase) = fact.value, fact.originalTransactionID == originalTransactionID,
            let end = purchase.expiresDate
        else { return nil }
        let isOfPeriod =
            renewal.renewalDate.map { $0 == end } ?? (purchase.purchaseDate <= signedDate && signedDate < end)
        return isOfPeriod ? purchase.offer?.type == .promotional : nil
    }
}

extension Sequence<SubscriberFact> {
    /// The announcements of the renewal infos among facts that arrive together.
    package var announcements: [SubscriberFact] { flatMap { $0.announcements(beside: self) } }
}

extension SubscriberFact.Key {
    /// The key of an announcement: the period in which it was signed, and the offer.
    ///
    /// A renewal info contains the end of its period. Data from before mid-2023 does not, so the day of its signature
    /// identifies the period.
    init(_ kind: SubscriberFact.Kind, _ renewal: Renewal, signed date: Timestamp, _ original: TransactionID) {
        let period = renewal.renewalDate.map { "\($0.milliseconds)" } ?? "day \(date.milliseconds / 86_400_000)"
        let offer = renewal.isPromotional ? renewal.offerNumber : renewal.autoRenewStatus == .on ? "none" : "off"
        // The text is short and has only allowed characters.
        self.init(kind: kind, id: (try? TransactionID(utf8: Array("\(period) \(offer)".utf8))) ?? original)
    }
}

extension Renewal {
    /// True if the next period has a promotional offer.
    var isPromotional: Bool { offer?.type == .promotional && offer?.identifier != nil }

    /// True if the same product renews, or would renew with auto-renew on. A running offer should then appear.
    fileprivate var canShowNoOffer: Bool {
        (autoRenewProductID ?? productID) == productID && isInBillingRetryPeriod != true && expirationIntent == nil
    }

    /// The members that concern the offer of the next period.
    fileprivate var announcing: Renewal {
        var renewal = Renewal(productID: productID, autoRenewStatus: autoRenewStatus)
        renewal.autoRenewProductID = autoRenewProductID
        renewal.renewalDate = renewalDate
        renewal.offer = isPromotional ? offer : nil
        return renewal
    }

    /// The FNV-1a hash of the product and the offer, which is short enough for a key.
    fileprivate var offerNumber: String {
        let product = (autoRenewProductID ?? productID).text.utf8
        // A zero byte separates the two.
        return String(FNV1a.hash(Array(product) + [0] + Array((offer?.identifier ?? "").utf8)), radix: 16)
    }
}
