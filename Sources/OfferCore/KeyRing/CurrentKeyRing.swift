import Synchronization

/// The ring in force. An offer takes a snapshot and works with that to its end, so it never sees half of a change.
package final class CurrentKeyRing: Sendable {
    private let ring: Mutex<KeyRing>

    package init(_ ring: KeyRing) {
        self.ring = Mutex(ring)
    }

    package var snapshot: KeyRing { ring.withLock { $0 } }

    package func update(_ change: (KeyRing) -> KeyRing) {
        ring.withLock { $0 = change($0) }
    }
}
