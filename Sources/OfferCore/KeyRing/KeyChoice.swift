/// The signing key chosen for each app.
package struct KeyChoice: Hashable, Sendable {
    /// The key for apps that are not in ``ofApps``; nil if those apps are not served.
    package let ofAllApps: KeyID?
    package let ofApps: [BundleID: KeyID]

    /// All chosen keys without duplicates, in byte order.
    package let keyIDs: [KeyID]

    private let chosen: Set<KeyID>

    package init(ofAllApps: KeyID?, ofApps: [BundleID: KeyID] = [:]) {
        self.ofAllApps = ofAllApps
        self.ofApps = ofApps
        chosen = Set(ofApps.values).union(ofAllApps.map { [$0] } ?? [])
        keyIDs = chosen.sorted()
    }

    /// The key for `app`; nil if the app is not served.
    package func keyID(for app: BundleID) -> KeyID? {
        // Most services have one key for all apps and skip the lookup.
        (ofApps.isEmpty ? nil : ofApps[app]) ?? ofAllApps
    }

    package func chooses(_ id: KeyID) -> Bool { chosen.contains(id) }

    /// The apps in ``ofApps`` that use `id`, in byte order.
    package func apps(of id: KeyID) -> [BundleID] {
        ofApps.filter { $0.value == id }.keys.sorted { $0.text.utf8.lexicographicallyPrecedes($1.text.utf8) }
    }
}
