/// The configured signing keys and retired keys.
package struct WantedKeys: Hashable, Sendable {
    /// The signing key for each app.
    package var choice: KeyChoice
    /// Keys that must never sign again. The configuration is rejected if it also chooses such a key to sign.
    package var retired: Set<KeyID>
    /// The required ``SigningKeyPair/fingerprint`` of each key, by ID. A key with another fingerprint is refused.
    package var fingerprints: [KeyID: String]

    package init(choice: KeyChoice, retired: Set<KeyID> = [], fingerprints: [KeyID: String] = [:]) {
        self.choice = choice
        self.retired = retired
        self.fingerprints = fingerprints
    }

    /// Returns true if the configuration permits this pair for this ID.
    package func permits(_ key: KeyRing.Key) -> Bool {
        fingerprints[key.id].map { $0 == key.pair.fingerprint } ?? true
    }
}
