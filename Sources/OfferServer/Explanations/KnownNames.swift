package import OfferCore

/// The names that a signature may be for instead of the one that was presented. They get into an answer only where the signature
/// proves that it is for them.
package struct KnownNames: Sendable {
    /// At most so many of a kind are tried.
    static let maximumCount = 20

    /// Of more than so many in a catalogue it is chance which are looked at: all of them would take too long.
    private static let maximumLookedAt = 2000

    /// Of more than so many it is chance which are tried.
    private static let maximumSortedCount = 200

    private let apps: [[UInt8]]
    private let catalogue: Catalogue?

    /// - Parameter allowed: the apps that the caller may know of; nil for all.
    package init(
        catalogue: Catalogue? = nil, choice: KeyChoice = KeyChoice(ofAllApps: nil), allowed: Set<BundleID>? = nil
    ) {
        var apps = Set(choice.ofApps.keys).union(catalogue?.apps.keys ?? [:].keys)
        if let allowed { apps.formIntersection(allowed) }
        self.apps = apps.map(\.text.utf8)
        self.catalogue = catalogue?.restricted(to: allowed)
    }

    /// The known values of a field, those that differ from `text` in letter case alone first.
    /// - Parameter app: the bundle ID that was presented; its letter case does not count.
    func values(of field: PayloadField, near text: [UInt8], app: [UInt8]) -> [[UInt8]] {
        let values: [[UInt8]]
        switch field {
        case .appBundleID: values = apps
        case .productIdentifier: values = offers(of: app).map(\.key.text.utf8)
        case .offerID:
            values = Array(Set(offers(of: app).lazy.flatMap { $0.value.map(\.text.utf8) }.prefix(Self.maximumLookedAt)))
        case .keyID, .customer, .nonce, .timestamp: values = []
        }
        let near = values.filter { $0 != text && $0.isEqual(ignoringCaseOf: text) }
        let others = values.lazy.filter { $0 != text && !near.contains($0) }.prefix(Self.maximumSortedCount)
        return Array((near + others.sorted { $0.lexicographicallyPrecedes($1) }).prefix(Self.maximumCount))
    }

    /// Whether there is this app, but in other capitals.
    func hasOnlyInOtherCase(app: [UInt8]) -> Bool {
        !apps.contains(app) && apps.contains { $0.isEqual(ignoringCaseOf: app) }
    }

    private func offers(of app: [UInt8]) -> [(key: ProductID, value: Set<OfferID>)] {
        let apps = (catalogue?.apps ?? [:]).filter { $0.key.text.utf8.isEqual(ignoringCaseOf: app) }
        return Array(apps.lazy.flatMap(\.value.offers).prefix(Self.maximumLookedAt))
    }
}

extension Catalogue {
    fileprivate func restricted(to allowed: Set<BundleID>?) -> Catalogue {
        guard let allowed else { return self }
        return Catalogue(apps: apps.filter { allowed.contains($0.key) })
    }
}
