/// The keys of the service and which of them signs for which app. A value: a change makes a new ring, and an app has
/// exactly one key that signs, or none. Nothing ever falls back to another key.
package struct KeyRing: Sendable {
    /// A key with the ID under which the App Store knows its public half.
    package struct Key: Sendable {
        package let id: KeyID
        package let pair: any SigningKeyPair

        package init(id: KeyID, pair: any SigningKeyPair) {
            self.id = id
            self.pair = pair
        }
    }

    private let keys: [KeyID: Key]
    private let choice: KeyChoice
    private var outOfService: Set<KeyID> = []

    /// - Throws: `.unknown` if a key is chosen that is not there.
    package init(keys: [Key], choice: KeyChoice) throws(KeyRingError) {
        self.keys = Dictionary(keys.map { ($0.id, $0) }) { first, _ in first }
        self.choice = choice
        for id in choice.keyIDs where self.keys[id] == nil { throw .unknown(id) }
    }

    /// A ring of one key that signs for every app.
    package init(active: Key) {
        keys = [active.id: active]
        choice = KeyChoice(ofAllApps: active.id)
    }

    /// The key that signs for `app`.
    package func signingKey(for app: BundleID) throws(KeyRingError) -> Key {
        guard let id = choice.keyID(for: app) else { throw .noKey }
        guard let key = keys[id] else { throw .unknown(id) }
        guard !outOfService.contains(id) else { throw .outOfService(id) }
        return key
    }

    /// The IDs of the keys that are chosen, in order.
    package var signing: [KeyID] { choice.keyIDs }

    /// The keys that are chosen and do not sign any more.
    package var missingFromService: Set<KeyID> { outOfService.intersection(choice.keyIDs) }

    /// A ring in which the key signs no more.
    package func takingOutOfService(_ id: KeyID) -> KeyRing {
        var ring = self
        ring.outOfService.insert(id)
        return ring
    }
}

package enum KeyRingError: Error, Hashable {
    /// No key is chosen for the app, so the app is not served.
    case noKey
    /// A key is chosen that is not in the ring.
    case unknown(KeyID)
    /// The key made a signature that its own public half refused, and signs no more until the process starts anew.
    case outOfService(KeyID)
}
