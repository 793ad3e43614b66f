/// The keys of the service and which of them signs. A value: a change makes a new ring.
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

    private let active: Key
    private let isActiveInService: Bool

    package init(active: Key) {
        self.init(active: active, isActiveInService: true)
    }

    private init(active: Key, isActiveInService: Bool) {
        self.active = active
        self.isActiveInService = isActiveInService
    }

    /// The key that signs.
    /// - Throws: `.outOfService` if it was taken out; there is never another in its place.
    package func signingKey() throws(KeyRingError) -> Key {
        guard isActiveInService else { throw .outOfService(active.id) }
        return active
    }

    /// A ring in which the key signs no more.
    package func takingOutOfService(_ id: KeyID) -> KeyRing {
        KeyRing(active: active, isActiveInService: isActiveInService && active.id != id)
    }
}

package enum KeyRingError: Error, Hashable {
    /// The key made a signature that its own public half refused, and signs no more until the process starts anew.
    case outOfService(KeyID)
}
