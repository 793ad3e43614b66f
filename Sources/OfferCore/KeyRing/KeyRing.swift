/// The service's keys, their states, and the signing key chosen for each app.
///
/// A ring is a value: a copy never shows a partial change, and a refused move changes nothing. An app has at most one
/// signing key and never falls back to another.
///
/// ```
///    add             choose another
///     │       ┌────────────────────────┐
///     ▼       ▼                        │
///   standby ─────── choose ───────▶ active
///     │   └── remove ──▶ (gone)
///     └────── retire ──▶ retired (never signs again)
/// ```
package struct KeyRing: Sendable {
    /// A key pair and the ID by which the App Store knows its public key.
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
    /// True if the ring contains, or once contained, a key with threads of its own. Requests look at it first, so a ring
    /// without such keys costs them nothing.
    package private(set) var hasKeysWithThreads = false

    /// Makes an empty ring, which serves no app.
    package init() {}

    /// Makes a ring with one key that signs for every app.
    package init(active: Key) {
        keys = [active.id: active]
        choice = KeyChoice(ofAllApps: active.id)
        hasKeysWithThreads = active.pair.threads != nil
    }

    /// Finds the key that signs for `app`.
    /// - Throws: `.noKey`, `.unknown`, `.outOfService`.
    package func signingKey(for app: BundleID) throws(KeyRingError) -> Key {
        guard let id = choice.keyID(for: app) else { throw .noKey }
        guard let key = keys[id] else { throw .unknown(id) }
        guard !outOfService.contains(id) else { throw .outOfService(id) }
        return key
    }

    /// The IDs of the chosen keys, in byte order.
    package var active: [KeyID] { choice.keyIDs }

    /// The chosen keys that are out of service and therefore do not sign.
    package var activeOutOfService: Set<KeyID> { outOfService.intersection(choice.keyIDs) }

    /// Returns true if the key was taken out of service, regardless of its state.
    package func isOutOfService(_ id: KeyID) -> Bool { outOfService.contains(id) }

    /// The IDs of all keys in the ring, in byte order.
    package var keyIDs: [KeyID] { keys.keys.sorted() }

    package func key(_ id: KeyID) -> Key? { keys[id] }

    /// The threads on which the key for `app` signs; nil if it may sign anywhere.
    package func threads(for app: BundleID) -> (any SigningThreads)? {
        guard hasKeysWithThreads else { return nil }
        return (try? signingKey(for: app))?.pair.threads
    }

    /// The number of signatures that wait for threads of keys; nil if no key has threads.
    package var waitingForThreads: Int? {
        guard hasKeysWithThreads else { return nil }
        // Keys of one token share their threads.
        let threads = keys.values.compactMap(\.pair.threads).map { (ObjectIdentifier($0), $0.waitingCount) }
        return Dictionary(threads) { first, _ in first }.values.reduce(0, +)
    }

    /// The state of a key; nil if the ring does not contain it.
    package func state(of id: KeyID) -> KeyState? {
        guard keys[id] != nil else { return nil }
        if retired.contains(id) { return .retired }
        return choice.chooses(id) ? .active : .standby
    }
}

// MARK: Moves

extension KeyRing {
    /// Adds a key in standby, or retired if its ID was retired in advance.
    /// - Throws: `.exists`.
    package mutating func add(_ key: Key) throws(KeyRingError) {
        guard keys[key.id] == nil else { throw .exists(key.id) }
        set(key)
    }

    /// Replaces the pair of a key, for example because its file contained the wrong key.
    /// - Throws: `.unknown`, `.retired`.
    package mutating func replace(_ key: Key) throws(KeyRingError) {
        try requireUnretired(key.id)
        set(key)
    }

    private mutating func set(_ key: Key) {
        keys[key.id] = key
        hasKeysWithThreads = hasKeysWithThreads || key.pair.threads != nil
    }

    /// Makes the keys of `choice` active. Active keys that are not in `choice` go to standby.
    /// - Throws: `.unknown`, `.retired`; `.outOfService` for a key that was not active before.
    package mutating func choose(_ choice: KeyChoice) throws(KeyRingError) {
        for id in choice.keyIDs {
            try requireUnretired(id)
            guard !outOfService.contains(id) || self.choice.chooses(id) else { throw .outOfService(id) }
        }
        self.choice = choice
    }

    /// Retires a key in standby. It never signs again.
    /// - Throws: `.unknown`, `.activeKey`, `.retired`.
    package mutating func retire(_ id: KeyID) throws(KeyRingError) {
        try requireIdle(id)
        retired.insert(id)
    }

    /// Retires IDs whose keys are not in the ring, so they stay retired if the keys are added later.
    mutating func retireInAdvance(_ ids: Set<KeyID>) { retired.formUnion(ids.subtracting(keys.keys)) }

    /// Removes a key in standby.
    /// - Throws: `.unknown`, `.activeKey`, `.retired`.
    package mutating func remove(_ id: KeyID) throws(KeyRingError) {
        try requireIdle(id)
        keys[id] = nil
    }

    /// Stops a key from signing, regardless of its state, because one of its signatures did not verify.
    package mutating func takeOutOfService(_ id: KeyID) { outOfService.insert(id) }

    /// Marks every key that is out of service in `other` as out of service in this ring.
    package mutating func mergeOutOfService(from other: KeyRing) {
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
