/// Which key signs for which app.
package struct KeyChoice: Hashable, Sendable {
    /// The key for every app without its own; nil where only the apps in ``ofApps`` are served.
    package var ofAllApps: KeyID?
    package var ofApps: [BundleID: KeyID]

    package init(ofAllApps: KeyID?, ofApps: [BundleID: KeyID] = [:]) {
        self.ofAllApps = ofAllApps
        self.ofApps = ofApps
    }

    /// The key for `app`; nil if the app is not served.
    package func keyID(for app: BundleID) -> KeyID? {
        // Most services have one key for all, and need not look.
        (ofApps.isEmpty ? nil : ofApps[app]) ?? ofAllApps
    }

    /// Every key that signs for something, once, in the order of their bytes.
    package var keyIDs: [KeyID] {
        Set(ofApps.values).union(ofAllApps.map { [$0] } ?? [])
            .sorted { $0.text.utf8.lexicographicallyPrecedes($1.text.utf8) }
    }
}
