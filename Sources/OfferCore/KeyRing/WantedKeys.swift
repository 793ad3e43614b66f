/// What the configuration wants of the ring.
package struct WantedKeys: Hashable, Sendable {
    /// Which key signs for which app.
    package var choice: KeyChoice
    /// Keys that never sign again; none of them is chosen.
    package var retired: Set<KeyID>

    package init(choice: KeyChoice, retired: Set<KeyID> = []) {
        self.choice = choice
        self.retired = retired
    }
}

extension KeyRing {
    /// The ring that `wanted` asks for, made of the keys that were found.
    ///
    /// A key that signs and is to go on signing stays although it was not found any more: its file may be gone by
    /// mistake, and the key is as good as it was. Any other key that was not found leaves the ring, unless it is retired.
    ///
    /// - Parameter found: keys that have been proven to sign.
    /// - Throws: why the first move was refused; this ring is as it was, then.
    package func moved(to wanted: WantedKeys, found: [Key]) throws(KeyRingError) -> KeyRing {
        let foundIDs = Set(found.map(\.id))
        var ring = self
        for id in keyIDs where state(of: id) == .standby && !foundIDs.contains(id) { try ring.remove(id) }
        for key in found { try ring.take(key) }
        try ring.choose(wanted.choice)
        for id in ring.keyIDs where ring.state(of: id) == .standby {
            if wanted.retired.contains(id) {
                try ring.retire(id)
            } else if !foundIDs.contains(id) {
                try ring.remove(id)
            }
        }
        ring.keepFromSigning(wanted.retired)
        return ring
    }

    private mutating func take(_ found: Key) throws(KeyRingError) {
        guard let known = key(found.id) else { return try add(found) }
        // A retired key stays what it was: it has to explain the signatures that it made.
        guard known.pair !== found.pair, state(of: found.id) != .retired else { return }
        try replace(found)
    }
}
