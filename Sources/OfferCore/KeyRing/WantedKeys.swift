/// The configured choice of signing keys and the configured retired keys.
package struct WantedKeys: Hashable, Sendable {
    /// The choice of signing key for each app.
    package var choice: KeyChoice
    /// Keys that must never sign again; none of them is chosen.
    package var retired: Set<KeyID>

    package init(choice: KeyChoice, retired: Set<KeyID> = []) {
        self.choice = choice
        self.retired = retired
    }
}
