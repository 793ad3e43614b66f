package import OfferCore

/// Compares an app's configured catalogue with App Store Connect.
///
/// Missing data and unknown values lead to no finding.
package struct CatalogueCheck {
    let bundleID: BundleID
    let app: Catalogue.App
    let listing: AppListing
    /// The storefronts of the app's customers; nil if they are unknown.
    let storefronts: Set<String>?
    /// True if the service receives the app's notifications.
    let receivesNotifications: Bool

    /// The number of promotional offers that App Store Connect permits for each product.
    static let maximumOffers = 10

    /// - Parameters:
    ///   - app: the app as configured, without data of App Store Connect.
    ///   - storefronts: the storefronts where customers are, as three-letter codes; nil if they are unknown.
    package init(
        _ bundleID: BundleID, _ app: Catalogue.App, listing: AppListing, storefronts: Set<String>? = nil,
        receivesNotifications: Bool
    ) {
        self.bundleID = bundleID
        self.app = app
        self.listing = listing
        self.storefronts = storefronts
        self.receivesNotifications = receivesNotifications
    }

    /// The findings: those about the app, then by product and offer.
    package func findings() -> [CatalogueFinding] {
        let products = app.offers.keys.sorted { $0.text.description < $1.text.description }
        return appFindings() + notificationFindings() + rankFindings() + products.flatMap(productFindings)
            + unusedOffers() + retentionFindings()
    }

    private func appFindings() -> [CatalogueFinding] {
        var findings: [CatalogueFinding] = []
        if let configured = app.appAppleID, configured != listing.appAppleID {
            findings.append(
                CatalogueFinding(
                    .otherAppAppleID, app: bundleID,
                    "the app's Apple ID in App Store Connect is \(listing.appAppleID), not \(configured)",
                    hint: "correct appAppleID: production data with another number is refused"))
        }
        if listing.unreadableCount > 0 {
            findings.append(
                CatalogueFinding(
                    .incompleteListing, severity: .warning, app: bundleID,
                    "\(listing.unreadableCount) entries of App Store Connect could not be read, so they were not compared",
                    hint: "run offer-signer catalogue check again; if it persists, look for a newer version"))
        }
        return findings
    }

    /// Compares the order of the configured ranks with App Store Connect's levels. Level 1 is the highest.
    private func rankFindings() -> [CatalogueFinding] {
        listing.groups.compactMap { group in
            let ranked = listing.products.filter { $0.groupID == group.id }.compactMap { product in
                app.rules.products.ranks[product.productID].flatMap { rank in
                    product.level.map { (name: product.productID.text.description, rank: rank, level: $0) }
                }
            }.sorted { ($0.level, $0.name) < ($1.level, $1.name) }
            let agrees = zip(ranked, ranked.dropFirst()).allSatisfy { one, other in
                one.level == other.level ? one.rank == other.rank : one.rank > other.rank
            }
            guard !agrees else { return nil }
            return CatalogueFinding(
                .otherRanks, app: bundleID, product: ranked.first?.name,
                "the ranks in the group \(group.id) differ from App Store Connect's levels, which order it from the highest: "
                    + ranked.map { "\($0.name) (level \($0.level), rank \($0.rank))" }.joined(separator: ", "),
                hint: "give a product with a lower level a greater rank, and products of one level the same; "
                    + "or leave out the ranks of the group")
        }
    }

    /// Finds promotional offers of App Store Connect that the file does not list, so that no rule gives them.
    private func unusedOffers() -> [CatalogueFinding] {
        listing.products.flatMap { product in
            product.offers.filter { app.offers[product.productID]?.contains($0.offerID) != true }.map { offer in
                finding(
                    .unusedOffer, product.productID, offer: offer.offerID, severity: .warning,
                    "App Store Connect has this promotional offer, but the file does not list it, so no rule gives it",
                    hint: "list it under the product's offers, or delete it in App Store Connect")
            }
        }
    }

    func finding(
        _ code: CatalogueFinding.Code, _ productID: ProductID, offer offerID: OfferID? = nil,
        severity: CatalogueFinding.Severity = .error, territories: [String] = [], _ sentence: String, hint: String
    ) -> CatalogueFinding {
        CatalogueFinding(
            code, severity: severity, app: bundleID, product: productID.text.description,
            offer: offerID?.text.description,
            territories: territories, sentence, hint: hint)
    }
}
