import OfferCore

extension Life {
    /// One event within a term.
    mutating func happen() throws {
        if isRefunded { return try reverse(terms.count - 1) }
        switch Int.random(in: 0..<11, using: &random) {
        case 0, 1: autoRenews.toggle()
        case 2: changeNextProduct()
        case 3: redeem()
        case 4: priceIncrease = priceIncrease == nil ? .unanswered : .accepted
        case 5, 6: return try request(Int.random(in: terms.indices, using: &random))
        case 7: terms[terms.count - 1].end = later(last.end, 5)
        case 8: return try upgrade()
        case 9: return try refund(terms.count - 1)
        default: break
        }
        try notify()
    }

    /// A downgrade turns auto-renew on by itself.
    private mutating func changeNextProduct() {
        guard pending == nil else { return }
        autoRenews = true
        nextProduct = nextProduct == last.product ? "weekly" : last.product
    }

    /// A promotional offer, or an offer code, which the App Store reports in the same way.
    private mutating func redeem() {
        guard pending == nil, !isShared else { return }
        autoRenews = true
        let type = chance(40) ? OfferType.offerCode : .promotional
        pending = AppliedOffer(type: type, identifier: newOffer(), discountType: .payAsYouGo, period: "P1M")
    }

    /// The upgraded term is never sent again.
    private mutating func upgrade() throws {
        terms[terms.count - 1].isUpgraded = true
        try begin(isRenewal: false, product: last.product == "monthly" ? "yearly" : "monthly", offer: nil)
        try notify()
    }

    /// The customer asks for a refund of any term, and the App Store answers or does not.
    private mutating func request(_ place: Int) throws {
        guard terms[place].refund == nil, !isShared else { return }
        let id = terms[place].id
        requests[id] = Timestamp(milliseconds: clock.milliseconds + 20)
        try notify(about: place, request: .open)
        guard chance(70) else { return }
        pass(0.1)
        requests[id] = nil
        if place < terms.count - 1, chance(50) { return try refund(place) }
        try notify(about: place, request: .declined)
    }

    private mutating func refund(_ place: Int) throws {
        terms[place].refund = (clock, chance(50) ? .appIssue : .other)
        requests[terms[place].id] = nil
        if place == terms.count - 1 { autoRenews = false }
        try notify(about: place, request: isShared ? nil : .granted)
        guard place < terms.count - 1, chance(30) else { return }
        pass(0.1)
        try reverse(place)
    }

    private mutating func reverse(_ place: Int) throws {
        guard chance(60) else { return }
        terms[place].refund = nil
        if place == terms.count - 1 { autoRenews = true }
        try notify(about: place)
    }
}
