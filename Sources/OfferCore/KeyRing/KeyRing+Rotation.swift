extension KeyRing {
    /// Makes the ring that `wanted` describes, using the keys that were found.
    ///
    /// An active key that stays active is kept even if it was not found: its file may have been removed by
    /// mistake, and the loaded key is still valid. Any other key that was not found is removed, unless it is retired.
    ///
    /// - Parameter found: keys that have passed a signing test.
    /// - Throws: the error of the first move that was refused.
    package func moved(to wanted: WantedKeys, found: [Key]) throws(KeyRingError) -> KeyRing {
        let foundIDs = Set(found.map(\.id))
        var ring = self
        for id in keyIDs where state(of: id) == .standby && !foundIDs.contains(id) { try ring.remove(id) }
        for key in found { try ring.adopt(key) }
        try ring.choose(wanted.choice)
        for id in ring.keyIDs where ring.state(of: id) == .standby {
            if wanted.retired.contains(id) {
                try ring.retire(id)
            } else if !foundIDs.contains(id) {
                try ring.remove(id)
            }
        }
        ring.retireInAdvance(wanted.retired)
        return ring
    }

    private mutating func adopt(_ found: Key) throws(KeyRingError) {
        guard let known = key(found.id) else { return try add(found) }
        // A retired key keeps its pair, which is needed to explain its old signatures.
        guard known.pair !== found.pair, state(of: found.id) != .retired else { return }
        try replace(found)
    }
}
