import OfferCore
import OfferEligibility

extension Life {
    /// Begins a term at the present time, or a little later.
    mutating func begin(isRenewal: Bool, product: String, offer: AppliedOffer?, in milliseconds: Int64 = 0) throws {
        if !isRenewal { (pending, offerPeriodsLeft) = (nil, 0) }
        let start = Timestamp(milliseconds: clock.milliseconds + milliseconds)
        let choice = isRenewal && isBound ? autoRenews : true
        let price: Int64 = offer?.discountType == .freeTrial ? 0 : 990
        terms.append(
            Term(
                id: terms.isEmpty ? original : "\(original)\(100 + terms.count)", start: start,
                end: later(start, Self.length(of: product)), product: product, isRenewal: isRenewal, price: price,
                offer: offer, token: token, run: run))
        (nextProduct, autoRenews, outlook, priceIncrease, winBackOffers) = (product, choice, .running, nil, [])
    }

    /// Begins the next term of the run with the pending offer.
    mutating func renew(in milliseconds: Int64 = 0) throws {
        let offer = pending
        if offer != nil {
            if offerPeriodsLeft == 0 { offerPeriodsLeft = Int.random(in: 1...3, using: &random) }
            offerPeriodsLeft -= 1
        }
        pending = offerPeriodsLeft > 0 ? offer : nil
        try begin(isRenewal: true, product: nextProduct, offer: offer, in: milliseconds)
    }

    /// Lives to the end of the term and through what follows.
    mutating func liveThroughTerm() throws {
        try passEvents()
        if isRefunded { return try resubscribe(after: 1) }
        let early = chance(50) && (autoRenews || isBound) ? Int64(33_000) : 0
        clock = max(clock, Timestamp(milliseconds: last.end.milliseconds - early))
        guard autoRenews || isBound else {
            if chance(70) { try expire(.cancelled) }
            return try resubscribe(after: 2)
        }
        switch Int.random(in: 0..<10, using: &random) {
        case 0: try expire([.priceIncrease, .productUnavailable, .other].randomElement(using: &random) ?? .other)
        case 1...3: try fail()
        default:
            let gap = chance(30) ? Int64(2000) : 0
            try renew(in: max(0, last.end.milliseconds - clock.milliseconds) + gap)
            try notify("DID_RENEW")
        }
        if case .ended = outlook { try resubscribe(after: 3) }
    }

    /// Buys again after the end; sometimes never.
    private mutating func resubscribe(after days: Double) throws {
        isOver = chance(25)
        guard !isOver else { return }
        if !isRefunded, clock < last.end { clock = last.end }
        pass(days + Double(Int.random(in: 0..<30, using: &random)))
        run += 1
        let id = newOffer()
        let offers = [nil, OfferType.winBack, .offerCode, .retention].map { type in
            type.map { AppliedOffer(type: $0, identifier: id, discountType: .payAsYouGo) }
        }
        changeAccount()
        try begin(isRenewal: false, product: "monthly", offer: offers.randomElement(using: &random) ?? nil)
        try notify("SUBSCRIBED", "RESUBSCRIBE")
    }

    /// The App Store says that the subscription has ended.
    mutating func expire(_ reason: Subscription.EndReason) throws {
        if clock < last.end { clock = last.end }
        pass(0.01)
        (autoRenews, outlook) = (reason == .cancelled ? false : autoRenews && reason != .billing, .ended(reason))
        winBackOffers = reason == .cancelled && chance(50) ? ["w2", "w1"] : []
        let subtype = Self.subtype(reason)
        try notify("EXPIRED", subtype.rawValue.isEmpty ? nil : subtype.rawValue, expiry: reason)
    }

    /// Billing fails: with or without grace, and with every outcome.
    private mutating func fail() throws {
        if clock < last.end { clock = last.end }
        let grace = chance(50) ? later(last.end, 16) : nil
        outlook = .failing(graceUntil: grace)
        pass(0.01)
        try notify("DID_FAIL_TO_RENEW", grace == nil ? nil : "GRACE_PERIOD")
        switch Int.random(in: 0..<6, using: &random) {
        case 0:
            pass(3)
            try renew()
            try notify("DID_RENEW", "BILLING_RECOVERY")
        case 1:
            pass(5)
            try expire(.cancelled)
        case 2:
            clock = later(last.end, 40)
            try renew()
            try notify("DID_RENEW", "BILLING_RECOVERY")
        case 3:
            clock = later(last.end, 60.5)
            try expire(.billing)
        case 4: break
        default:
            if let grace, chance(50) {
                clock = grace
                try notify("GRACE_PERIOD_EXPIRED")
            }
            clock = later(last.end, 61)
            outlook = .ended(.billing)
            try expire(.billing)
        }
    }

    /// Lives through some events within the term.
    mutating func passEvents() throws {
        for _ in 0..<Int.random(in: 0..<4, using: &random) {
            guard case .running = outlook, later(clock, 2) < last.end else { return }
            if clock < last.start { clock = last.start }
            pass(Double.random(in: 0.01..<2, using: &random))
            try happen()
        }
    }

    mutating func newOffer() -> String {
        offerCount += 1
        return "offer\(offerCount)"
    }
}
