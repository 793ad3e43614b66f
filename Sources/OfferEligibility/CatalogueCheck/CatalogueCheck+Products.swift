import OfferCore

extension CatalogueCheck {
    /// Compares one configured product and its offers.
    func productFindings(_ productID: ProductID) -> [CatalogueFinding] {
        let offers = (app.offers[productID] ?? []).sorted { $0.text.description < $1.text.description }
        guard let product = listing.product(productID) else { return unknownProduct(productID) }
        return stateFindings(product) + tooManyOffers(productID, count: offers.count) + valueFindings(product)
            + offers.flatMap { offerFindings($0, of: product) }
    }

    private func unknownProduct(_ productID: ProductID) -> [CatalogueFinding] {
        guard listing.isComplete else { return [] }
        let names = listing.products.map(\.productID.text.description)
        let hint = NearMiss.suggestion(for: productID.text.description, among: names)
        return [
            finding(
                .unknownProduct, productID, "App Store Connect has no auto-renewable subscription with this product ID",
                hint: hint ?? "copy the product ID from App Store Connect, or remove the product")
        ]
    }

    private func stateFindings(_ product: ProductListing) -> [CatalogueFinding] {
        switch product.state {
        case nil, .approved?: return []
        case .developerRemoved?, .removed?:
            return [
                finding(
                    .removedProduct, product.productID, "the product is removed from sale",
                    hint: "make it available again in App Store Connect, or remove it from the file")
            ]
        case .some(let state):
            // The sandbox sells products before their review.
            guard app.environments.contains(.production) else { return [] }
            return [
                finding(
                    .unapprovedProduct, product.productID,
                    "the product is not approved: its state is \(state.rawValue.printable)",
                    hint: "submit it for review in App Store Connect; until then, it is sold only in the sandbox")
            ]
        }
    }

    private func tooManyOffers(_ productID: ProductID, count: Int) -> [CatalogueFinding] {
        guard count > Self.maximumOffers else { return [] }
        return [
            finding(
                .tooManyOffers, productID,
                "the file lists \(count) offers, but App Store Connect permits \(Self.maximumOffers) for each product",
                hint: "remove offers that no longer exist")
        ]
    }

    /// Compares the values that the file sets, although App Store Connect has them.
    private func valueFindings(_ product: ProductListing) -> [CatalogueFinding] {
        let productID = product.productID
        var findings: [CatalogueFinding] = []
        if let group = app.groups[productID], group != product.groupID {
            findings.append(
                finding(
                    .otherGroup, productID,
                    "the product is in the group \(product.groupID.printable) of App Store Connect, not in \(group)",
                    hint: "correct subscriptionGroupID, or leave it out"))
        }
        if let isSharable = product.isFamilySharable, isSharable != app.familySharable.contains(productID) {
            findings.append(
                finding(
                    .otherFamilySharing, productID, severity: .warning,
                    "Family Sharing is \(isSharable ? "on" : "off") in App Store Connect, but not in the file",
                    hint: "set familySharable: \(isSharable)"))
        }
        let listed = Dictionary(grouping: product.prices(of: nil).values.filter { $0.currency != nil }) {
            $0.currency ?? ""
        }
        for (currency, amount) in (app.productPrices[productID] ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard let known = listed[currency], !known.contains(where: { Self.isEqual($0.value, amount) }) else {
                continue
            }
            findings.append(
                finding(
                    .otherListPrice, productID, severity: .warning,
                    "the product costs \(Self.amounts(known)) in App Store Connect, not \(amount) \(currency)",
                    hint: "correct price, or leave it out"))
        }
        return findings
    }

    static func isEqual(_ one: Double, _ other: Double) -> Bool { abs(one - other) < 0.000_01 }

    /// Returns the different amounts in words.
    static func amounts(_ prices: [ListedPrice]) -> String {
        Set(prices.map(\.text)).sorted().prefix(3).joined(separator: " or ")
    }
}
