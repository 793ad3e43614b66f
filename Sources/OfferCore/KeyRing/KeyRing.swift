/// The keys of the service, what each may do, and which of them signs for which app.
///
/// A value: whoever works with a copy sees no half of a change, and a move that is refused changes nothing. An app has
/// exactly one key that signs, or none, and nothing ever falls back to another key.
///
/// ```
///    add             choose another
///     │       ┌────────────────────────┐
///     ▼       ▼                        │
///   standby ─────── choose ───────▶ active
///     │   └── remove ──▶ (gone)
///     └────── retire ──▶ retired, for good
/// ```
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

    private var keys: [KeyID: Key] = [:]
    package private(set) var choice = KeyChoice(ofAllApps: nil)
    private var retired: Set<KeyID> = []
    private var outOfService: Set<KeyID> = []

    /// A ring without keys, which serves no app.
    package init() {}

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

    /// The keys that sign, in order.
    package var active: [KeyID] { choice.keyIDs }

    /// The keys that are chosen and do not sign any more.
    package var activeOutOfService: Set<KeyID> { outOfService.intersection(choice.keyIDs) }

    /// Whether the key signs no more, whatever its state.
    package func isOutOfService(_ id: KeyID) -> Bool { outOfService.contains(id) }

    /// Every key of the ring, in order.
    package var keyIDs: [KeyID] { keys.keys.sorted() }

    package func key(_ id: KeyID) -> Key? { keys[id] }

    /// - Returns: nil if there is no such key.
    package func state(of id: KeyID) -> KeyState? {
        guard keys[id] != nil else { return nil }
        if retired.contains(id) { return .retired }
        return choice.chooses(id) ? .active : .standby
    }
}

// MARK: Moves

extension KeyRing {
    /// A new key, in standby; or retired, if its ID has been.
    /// - Throws: `.exists`.
    package mutating func add(_ key: Key) throws(KeyRingError) {
        guard keys[key.id] == nil else { throw .exists(key.id) }
        keys[key.id] = key
    }

    /// Another pair under an ID of the ring: what was there is not what the App Store knows by that ID.
    /// - Throws: `.unknown`, `.retired`.
    package mutating func replace(_ key: Key) throws(KeyRingError) {
        try requireUnretired(key.id)
        keys[key.id] = key
    }

    /// The keys of `choice` sign from now on; those that signed before and are not in it are in standby.
    /// - Throws: `.unknown`, `.retired`; `.outOfService` for a key that did not sign before.
    package mutating func choose(_ choice: KeyChoice) throws(KeyRingError) {
        for id in choice.keyIDs {
            try requireUnretired(id)
            guard !outOfService.contains(id) || self.choice.chooses(id) else { throw .outOfService(id) }
        }
        self.choice = choice
    }

    /// The key never signs again.
    /// - Throws: `.unknown`, `.activeKey`, `.retired`.
    package mutating func retire(_ id: KeyID) throws(KeyRingError) {
        try requireIdle(id)
        retired.insert(id)
    }

    /// IDs that never sign, also if their keys come later.
    mutating func keepFromSigning(_ ids: Set<KeyID>) { retired.formUnion(ids.subtracting(keys.keys)) }

    /// - Throws: `.unknown`, `.activeKey`, `.retired`.
    package mutating func remove(_ id: KeyID) throws(KeyRingError) {
        try requireIdle(id)
        keys[id] = nil
    }

    /// The key signs no more, whatever its state: a signature of it did not verify.
    package mutating func takeOutOfService(_ id: KeyID) { outOfService.insert(id) }

    package mutating func keepOutOfService(whatIsOutOfServiceIn other: KeyRing) {
        outOfService.formUnion(other.outOfService)
    }

    private func requireUnretired(_ id: KeyID) throws(KeyRingError) {
        guard keys[id] != nil else { throw .unknown(id) }
        guard !retired.contains(id) else { throw .retired(id) }
    }

    private func requireIdle(_ id: KeyID) throws(KeyRingError) {
        try requireUnretired(id)
        guard !choice.chooses(id) else { throw .activeKey(id) }
    }
}
