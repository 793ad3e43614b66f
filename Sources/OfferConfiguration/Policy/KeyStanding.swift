package import OfferCore

/// The state of a key, and since when this process has seen it.
package struct KeyStanding: Hashable, Sendable {
    package let state: KeyState
    package let isOutOfService: Bool
    package let since: Timestamp
    /// True if the key had this state when the process started, so it may have it for longer.
    package let isSinceStart: Bool
}

extension [KeyID: KeyStanding] {
    /// Notes the states of a ring. A key that keeps its state keeps its time.
    mutating func note(_ ring: KeyRing, at now: Timestamp, isStart: Bool) {
        self = Dictionary(
            uniqueKeysWithValues: ring.keyIDs.compactMap { id in
                guard let state = ring.state(of: id) else { return nil }
                let isOutOfService = ring.isOutOfService(id)
                if let known = self[id], known.state == state, known.isOutOfService == isOutOfService {
                    return (id, known)
                }
                return (
                    id,
                    KeyStanding(state: state, isOutOfService: isOutOfService, since: now, isSinceStart: isStart)
                )
            })
    }
}
