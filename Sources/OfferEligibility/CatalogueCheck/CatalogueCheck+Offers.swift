import OfferCore

extension CatalogueCheck {
    /// Compares one configured offer.
    func offerFindings(_ offerID: OfferID, of product: ProductListing) -> [CatalogueFinding] {
        guard let offer = product.offers.first(where: { $0.offerID == offerID }) else {
            return unknownOffer(offerID, of: product)
        }
        return termFindings(offer, product) + planFindings(offer, product) + priceFindings(offer, product)
    }

    private func unknownOffer(_ offerID: OfferID, of product: ProductListing) -> [CatalogueFinding] {
        guard product.hasAllOffers else { return [] }
        let others = listing.products.filter { other in
            other.productID != product.productID && other.offers.contains { $0.offerID == offerID }
        }
        let near = NearMiss.suggestion(
            for: offerID.text.description, among: product.offers.map(\.offerID.text.description))
        let elsewhere = others.first.map { "the product \($0.productID.text) has an offer with this ID" }
        return [
            finding(
                .unknownOffer, product.productID, offer: offerID,
                "App Store Connect has no such promotional offer, so the App Store refuses its signatures",
                hint: near ?? elsewhere ?? "it may have been deleted: create it again, or remove it from the file")
        ]
    }

    /// Compares the terms that the file sets, although App Store Connect has them.
    private func termFindings(_ offer: OfferListing, _ product: ProductListing) -> [CatalogueFinding] {
        guard
            let configured = app.prices.first(where: {
                $0.productID == product.productID && $0.offerID == offer.offerID
            })
        else { return [] }
        var findings: [CatalogueFinding] = []
        if let ours = configured.mode, let theirs = offer.mode, ours != theirs {
            findings.append(
                finding(
                    .otherMode, product.productID, offer: offer.offerID, severity: .warning,
                    "the payment mode is \(theirs.rawValue) in App Store Connect, not \(ours.rawValue)",
                    hint: "correct mode, or leave it out"))
        }
        if let ours = configured.periods, let theirs = offer.periods(of: product), ours != theirs {
            findings.append(
                finding(
                    .otherPeriods, product.productID, offer: offer.offerID, severity: .warning,
                    "the offer lasts \(theirs) periods in App Store Connect, not \(ours)",
                    hint: "correct periods, or leave it out"))
        }
        let listed = Dictionary(grouping: (offer.prices ?? [:]).values.filter { $0.currency != nil }) {
            $0.currency ?? ""
        }
        for (currency, amount) in configured.price.sorted(by: { $0.key < $1.key }) {
            guard let known = listed[currency], !known.contains(where: { Self.isEqual($0.value, amount) }) else {
                continue
            }
            findings.append(
                finding(
                    .otherOfferPrice, product.productID, offer: offer.offerID, severity: .warning,
                    "the offer costs \(Self.amounts(known)) in App Store Connect, not \(amount) \(currency)",
                    hint: "correct price, or leave it out"))
        }
        return findings
    }

    /// Compares the billing plan. An app buys with the up-front plan unless it chooses another.
    private func planFindings(_ offer: OfferListing, _ product: ProductListing) -> [CatalogueFinding] {
        guard let theirs = offer.billingPlan, BillingPlanType.known.contains(theirs) else { return [] }
        guard product.plans?.contains(theirs) ?? true else {
            return [
                finding(
                    .otherBillingPlan, product.productID, offer: offer.offerID,
                    "the offer is for the billing plan \(theirs.rawValue), with which the product is not sold",
                    hint: "make the plan available in App Store Connect, or create an offer for another plan")
            ]
        }
        let ours = app.billingPlan(of: product.productID, offer.offerID)
        guard theirs != ours ?? .billedUpFront else { return [] }
        return [
            finding(
                .otherBillingPlan, product.productID, offer: offer.offerID,
                "the offer is for the billing plan \(theirs.rawValue), but apps would buy with "
                    + (ours ?? .billedUpFront).rawValue,
                hint: "set billingPlan: \(theirs.rawValue), and have the app buy with the plan of the answer")
        ]
    }
}
