import NIOConcurrencyHelpers
package import OfferCore

/// The policy in force. Each request uses one snapshot from start to finish, so it never sees a partial change.
package final class CurrentPolicy: Sendable {
    private let policy: NIOLockedValueBox<Policy>

    package init(_ policy: Policy) {
        self.policy = NIOLockedValueBox(policy)
    }

    package var snapshot: Policy { policy.withLockedValue { $0 } }

    package func takeOutOfService(_ id: KeyID) {
        _ = policy.withLockedValue { policy in
            let previous = policy
            var ring = previous.ring
            ring.takeOutOfService(id)
            policy = previous.with(ring)
            return previous
        }
    }

    /// Puts `next` in force. A key that was taken out of service while `next` was being prepared stays out of service.
    package func replace(with next: Policy) {
        // The previous policy is released outside the lock, so no request waits while its keys are freed.
        _ = policy.withLockedValue { policy in
            let previous = policy
            policy = next.mergingOutOfService(from: previous.ring)
            return previous
        }
    }
}
