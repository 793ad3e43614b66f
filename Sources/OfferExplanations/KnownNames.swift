package import OfferCore
package import OfferEligibility

/// The known names that a signature may cover instead of the presented ones. An explanation reveals a name only after
/// proving that the signature covers it.
package struct KnownNames: Sendable {
    /// The maximum number of values tried for a field.
    static let maximumCount = 20

    /// The maximum number of catalogue entries scanned, in arbitrary order. A full scan could take too long.
    private static let maximumScanned = 2000

    /// The maximum number of values sorted. If there are more, the selection is arbitrary.
    private static let maximumSorted = 200

    private let apps: [[UInt8]]
    private let catalogue: Catalogue?

    /// - Parameter allowed: the apps that the caller may see; nil for all apps.
    package init(
        catalogue: Catalogue? = nil, choice: KeyChoice = KeyChoice(ofAllApps: nil), allowed: Set<BundleID>? = nil
    ) {
        var apps = Set(choice.ofApps.keys).union(catalogue?.apps.keys ?? [:].keys)
        if let allowed { apps.formIntersection(allowed) }
        self.apps = apps.map(\.text.utf8)
        self.catalogue = catalogue?.restricted(to: allowed)
    }

    /// Lists the known values of a field other than `text`. Those that differ only in letter case come first.
    /// - Parameter app: the presented bundle ID; its letter case is ignored.
    func values(of field: PayloadField, near text: [UInt8], app: [UInt8]) -> [[UInt8]] {
        let values: [[UInt8]]
        switch field {
        case .appBundleID: values = apps
        case .productIdentifier: values = offers(of: app).map(\.key.text.utf8)
        case .offerID:
            values = Array(Set(offers(of: app).lazy.flatMap { $0.value.map(\.text.utf8) }.prefix(Self.maximumScanned)))
        case .keyID, .customer, .nonce, .timestamp: values = []
        }
        let near = values.filter { $0 != text && $0.isEqual(ignoringCaseOf: text) }
        let others = values.lazy.filter { $0 != text && !near.contains($0) }.prefix(Self.maximumSorted)
        return Array((near + others.sorted { $0.lexicographicallyPrecedes($1) }).prefix(Self.maximumCount))
    }

    /// Returns true if the catalogue gives an offer another billing plan than the evidence names.
    func contradictsPlan(of evidence: Evidence) -> Bool {
        let (bundleID, productID, offerID) = evidence.offer
        guard let presented = evidence.billingPlan, let app = bundleID.flatMap({ try? BundleID(utf8: $0) }),
            let product = productID.flatMap({ try? ProductID(utf8: $0) }),
            let offer = offerID.flatMap({ try? OfferID(utf8: $0) }),
            let plan = catalogue?.apps[app]?.billingPlan(of: product, offer)
        else { return false }
        return Array(plan.rawValue.utf8) != presented
    }

    /// Returns true if a bundle ID is unknown but differs from a known one only in letter case.
    func isMiscased(app: [UInt8]) -> Bool {
        !apps.contains(app) && apps.contains { $0.isEqual(ignoringCaseOf: app) }
    }

    private func offers(of app: [UInt8]) -> [(key: ProductID, value: Set<OfferID>)] {
        let apps = (catalogue?.apps ?? [:]).filter { $0.key.text.utf8.isEqual(ignoringCaseOf: app) }
        return Array(apps.lazy.flatMap(\.value.offers).prefix(Self.maximumScanned))
    }
}

extension Catalogue {
    fileprivate func restricted(to allowed: Set<BundleID>?) -> Catalogue {
        guard let allowed else { return self }
        return Catalogue(apps: apps.filter { allowed.contains($0.key) })
    }
}
