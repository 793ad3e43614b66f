import OfferCore
import OfferEligibility

extension Life {
    /// One event within a term.
    mutating func happen() throws {
        if isRefunded { return try reverse(terms.count - 1) }
        let event = Int.random(in: 0..<13, using: &random)
        // The product of a commitment stays.
        if bills != nil, [2, 3, 8, 11].contains(event) { return try tellNothing() }
        switch event {
        case 0, 1:
            autoRenews.toggle()
            try notify("DID_CHANGE_RENEWAL_STATUS", autoRenews ? "AUTO_RENEW_ENABLED" : "AUTO_RENEW_DISABLED")
        case 2: try changeNextProduct()
        case 3: try redeem()
        case 4:
            priceIncrease = priceIncrease == nil ? .unanswered : .accepted
            try notify("PRICE_INCREASE", priceIncrease == .accepted ? "ACCEPTED" : "PENDING")
        case 5, 6: try request(Int.random(in: terms.indices, using: &random))
        case 7:
            terms[terms.count - 1].end = later(last.end, 5)
            try notify("RENEWAL_EXTENDED")
        case 8: try upgrade()
        case 9 where last.addedSeats.isEmpty: try refund(terms.count - 1)
        case 9, 10: try refundSeats()
        case 11: try addSeats()
        default: try tellNothing()
        }
    }

    /// Notifications that come with the facts as they are.
    private mutating func tellNothing() throws {
        let types = [
            ("RENEWAL_EXTENSION", "FAILURE"), ("METADATA_UPDATE", nil), ("MIGRATION", nil), ("PRICE_CHANGE", nil),
            ("A_TYPE_THAT_COMES_LATER", "NEW"),
        ]
        let (type, subtype) = types.randomElement(using: &random) ?? types[0]
        try notify(type, subtype)
    }

    /// A downgrade turns auto-renew on by itself.
    private mutating func changeNextProduct() throws {
        guard pending == nil else { return try tellNothing() }
        autoRenews = true
        nextProduct = nextProduct == last.product ? "weekly" : last.product
        try notify("DID_CHANGE_RENEWAL_PREF", nextProduct == last.product ? nil : "DOWNGRADE")
    }

    /// A promotional offer, or an offer code, which the App Store reports in the same way.
    private mutating func redeem() throws {
        guard pending == nil else { return try tellNothing() }
        autoRenews = true
        let type = chance(40) ? OfferType.offerCode : .promotional
        let id = newOffer()
        pending = AppliedOffer(type: type, identifier: id, discountType: .payAsYouGo, period: "P1M")
        if type == .promotional { redemptions.append(OwnRedemption(offerID: id, product: nextProduct, at: clock)) }
        try notify("OFFER_REDEEMED")
    }

    /// The upgraded term is never sent again.
    private mutating func upgrade() throws {
        terms[terms.count - 1].isUpgraded = true
        try begin(isRenewal: false, product: last.product == "monthly" ? "yearly" : "monthly", offer: nil)
        try notify("DID_CHANGE_RENEWAL_PREF", "UPGRADE")
    }

    /// Seats may have an offer that the term does not have. The transaction that began the term is not sent again.
    private mutating func addSeats() throws {
        guard !isShared else { return try tellNothing() }
        let id = newOffer()
        let offer = chance(50) ? AppliedOffer(type: .promotional, identifier: id, discountType: .payUpFront) : nil
        if offer != nil { redemptions.append(OwnRedemption(offerID: id, product: last.product, at: clock)) }
        terms[terms.count - 1].addedSeats.append(
            AddedSeats(
                id: "\(original)\(500 + seatsCount)", start: clock, end: last.end, offer: offer, token: token,
                quantity: Int64.random(in: 1...4, using: &random)))
        try notify("DID_CHANGE_RENEWAL_PREF", "INCREASE_QUANTITY", seats: last.addedSeats.count - 1)
    }

    private mutating func refundSeats() throws {
        guard let place = last.addedSeats.indices.randomElement(using: &random),
            last.addedSeats[place].refund == nil
        else { return try tellNothing() }
        let seats = last.addedSeats[place]
        if seats.revoked + 1 < seats.quantity, chance(60) {
            terms[terms.count - 1].addedSeats[place].revoked += 1
        } else {
            terms[terms.count - 1].addedSeats[place].refund = clock
        }
        try notify("REFUND", "SEATS", seats: place, request: .granted)
    }

    /// The customer asks for a refund of any term, and the App Store answers or does not.
    private mutating func request(_ place: Int) throws {
        guard terms[place].refund == nil, terms[place].addedSeats.isEmpty, !isShared else { return }
        let id = terms[place].id
        requests[id] = Timestamp(milliseconds: clock.milliseconds + 20)
        try notify("CONSUMPTION_REQUEST", about: place, request: .open)
        guard chance(70) else { return }
        pass(0.1)
        requests[id] = nil
        if place < terms.count - 1, chance(50) { return try refund(place) }
        try notify("REFUND_DECLINED", about: place, request: .declined)
    }

    private mutating func refund(_ place: Int) throws {
        terms[place].refund = (clock, chance(50) ? .appIssue : .other)
        requests[terms[place].id] = nil
        if place == terms.count - 1 { autoRenews = false }
        try notify(isShared ? "REVOKE" : "REFUND", about: place, request: isShared ? nil : .granted)
        guard place < terms.count - 1, chance(30) else { return }
        pass(0.1)
        try reverse(place)
    }

    private mutating func reverse(_ place: Int) throws {
        guard chance(60) else { return }
        terms[place].refund = nil
        if place == terms.count - 1 { autoRenews = true }
        try notify(isShared ? "SUBSCRIBED" : "REFUND_REVERSED", isShared ? "RESUBSCRIBE" : nil, about: place)
    }
}
