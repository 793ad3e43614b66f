import OfferCore

extension SubscriptionView {
    var badge: HTML {
        switch status {
        case .active: Blocks.badge(.good, "active")
        case .billingGracePeriod: Blocks.badge(.warning, "grace period")
        case .billingRetry: Blocks.badge(.warning, "payment fails")
        case .expired: Blocks.badge(.neutral, isSettled ? "expired" : "probably expired")
        case .revoked: Blocks.badge(.bad, "revoked")
        }
    }

    /// The state in sentences, the most important one first.
    func sentences(_ clock: ConsoleClock, now: Timestamp) -> [HTML] {
        let facts = [
            access(clock, now: now), renewal, period, pending, priceSentence, seatsSentence, run(clock),
            commitmentSentence, priceIncreaseSentence, refundSentence, ownershipSentence,
        ]
        return facts.compactMap(\.self)
    }

    private func access(_ clock: ConsoleClock, now: Timestamp) -> HTML {
        let until = expiresAt.map { clock.html($0, now: now) }
        switch status {
        case .active: return until.map { "The customer has access until \($0)." } ?? "The customer has access."
        case .billingGracePeriod:
            let end = gracePeriodExpiresAt.map { " until \(clock.html($0, now: now))" as HTML }
            return "The payment failed. The customer keeps access\(end), while the App Store tries again."
        case .billingRetry: return "The payment failed, and the customer has no access. The App Store tries again."
        case .expired:
            guard isSettled else {
                return "The period is over, and the App Store has not reported what followed."
            }
            let end = (endedAt ?? expiresAt).map { " on \(clock.html($0, now: now))" as HTML }
            return "Access ended\(end)\(endedBecause.map(\.words))."
        case .revoked:
            return "The App Store took the access back\(endedAt.map { " on \(clock.html($0, now: now))" as HTML })."
        }
    }

    private var renewal: HTML? {
        switch (status, autoRenews) {
        case (.expired, _), (.revoked, _): nil
        case (_, nil): "Whether it renews is not known."
        case (_, false?): "Auto-renew is <b>off</b>, so it does not renew."
        case (_, true?):
            if let product = autoRenewProductID, product != productID {
                "Auto-renew is on. The next period is of \(UserText.code(product))."
            } else {
                "Auto-renew is on."
            }
        }
    }

    private var period: HTML? {
        guard lastPeriod != .regular else { return nil }
        let offer = offerID.map { " \(UserText.code($0))" as HTML }
        return "The \(whichPeriod) period has the \(lastPeriod.words)\(offer)."
    }

    private var whichPeriod: StaticString { status == .expired || status == .revoked ? "last" : "current" }

    private var priceSentence: HTML? {
        let average: HTML? = seats == nil ? nil : " for each seat on average"
        return price.map { "The \(whichPeriod) period costs \($0)\(average)." }
    }

    private var seatsSentence: HTML? {
        guard let seats else { return nil }
        let refunded = seats.refunded.map { ", of which Apple has refunded \(Words.grouped($0))" as HTML }
        let next = seats.next.map { " The next period has \(Words.count(Int(clamping: $0), "seat"))." as HTML }
        return "It has \(Words.count(Int(clamping: seats.count), "seat"))\(refunded).\(next)"
    }

    private var pending: HTML? {
        pendingOffer.map { offer in
            let name = offer.offerID.map { " \(UserText.code($0))" as HTML }
            return "The next period has the \(offer.kind.words)\(name)."
        }
    }

    private func run(_ clock: ConsoleClock) -> HTML? {
        guard let renewals, let subscribedSince else { return nil }
        return "Subscribed since \(clock.date(subscribedSince)), with \(Words.count(renewals, "paid renewal"))."
    }

    private var commitmentSentence: HTML? {
        commitment.map { "Bill \($0.period) of \($0.of) of a commitment." }
    }

    private var priceIncreaseSentence: HTML? {
        switch priceIncrease {
        case "pending": "A price increase waits for the customer’s consent."
        case "accepted": "The customer has accepted a price increase, or was told of it."
        default: nil
        }
    }

    private var refundSentence: HTML? {
        isRefundPending ? "The customer has asked Apple for a refund, which is not decided yet." : nil
    }

    private var ownershipSentence: HTML? {
        switch ownership {
        case nil, .purchased: nil
        case .familyShared: "Shared by a family member. Only the purchaser can redeem offers."
        case .assigned: "A seat of a group or an organisation. Only the purchaser can redeem offers."
        case .other: "The customer did not buy it. Only the purchaser can redeem offers."
        }
    }
}

extension SubscriptionView.EndReason {
    /// The end of a sentence about the end of access.
    fileprivate var words: StaticString {
        switch self {
        case .cancelled: ", because the customer cancelled"
        case .billing: ", because the payment failed"
        case .priceIncrease: ", because the customer did not accept a price increase"
        case .productUnavailable: ", because the product was withdrawn from sale"
        case .refunded: ", because the customer got a refund"
        case .other: ", for a reason that the App Store does not state"
        }
    }
}
