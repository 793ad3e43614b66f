import NIOConcurrencyHelpers

/// The setup in force. A request takes a snapshot and works with that to its end, so it never sees half of a change.
package final class CurrentSetup: Sendable {
    private let setup: NIOLockedValueBox<Setup>

    package init(_ setup: Setup) {
        self.setup = NIOLockedValueBox(setup)
    }

    package var snapshot: Setup { setup.withLockedValue { $0 } }

    package func takeOutOfService(_ id: KeyID) {
        setup.withLockedValue { setup in
            var ring = setup.ring
            ring.takeOutOfService(id)
            setup = setup.with(ring)
        }
    }

    /// Puts `next` in force. A key that left service while `next` was being made stays out of it.
    package func replace(with next: Setup) {
        // The setup that goes is given out of the lock, so that no request waits until its keys are freed.
        _ = setup.withLockedValue { setup in
            let previous = setup
            setup = next.keepingOutOfService(whatIsOutOfServiceIn: previous.ring)
            return previous
        }
    }
}
