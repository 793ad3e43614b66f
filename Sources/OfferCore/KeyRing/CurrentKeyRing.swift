import NIOConcurrencyHelpers

/// The ring in force. An offer takes a snapshot and works with that to its end, so it never sees half of a change.
package final class CurrentKeyRing: Sendable {
    private let ring: NIOLockedValueBox<KeyRing>

    package init(_ ring: KeyRing) {
        self.ring = NIOLockedValueBox(ring)
    }

    package var snapshot: KeyRing { ring.withLockedValue { $0 } }

    package func takeOutOfService(_ id: KeyID) {
        ring.withLockedValue { $0.takeOutOfService(id) }
    }

    /// Puts `next` in force. A key that left service while `next` was being made stays out of it.
    package func replace(with next: KeyRing) {
        // The ring that goes is given out of the lock, so that no offer waits until its keys are freed.
        _ = ring.withLockedValue { ring in
            let previous = ring
            ring = next
            ring.keepOutOfService(whatIsOutOfServiceIn: previous)
            return previous
        }
    }
}
