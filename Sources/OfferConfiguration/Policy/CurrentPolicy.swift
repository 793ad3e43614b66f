import NIOConcurrencyHelpers
package import OfferCore
package import OfferEligibility

/// The policy in force. Each request uses one snapshot from start to finish, so it never sees a partial change.
package final class CurrentPolicy: Sendable {
    private let policy: NIOLockedValueBox<Policy>
    /// What App Store Connect has about each app. Only the holder of this lock replaces the catalogue. Requests never
    /// wait for it.
    private let listings = NIOLockedValueBox<[BundleID: AppListing]>([:])

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

    /// Puts `next` in force, with what App Store Connect has. A key that was taken out of service while `next` was being
    /// prepared stays out of service.
    package func replace(with next: Policy) {
        listings.withLockedValue { listings in
            swap { [next = next.adding(listings)] previous in next.mergingOutOfService(from: previous.ring) }
        }
    }

    /// Replaces what App Store Connect has about each app.
    package func use(_ new: [BundleID: AppListing]) {
        listings.withLockedValue { listings in
            listings = new
            let next = snapshot.adding(new)
            swap { previous in next.with(previous.ring) }
        }
    }

    private func swap(_ next: (Policy) -> Policy) {
        // The previous policy is released outside the lock, so no request waits while its keys are freed.
        _ = policy.withLockedValue { policy in
            let previous = policy
            policy = next(previous)
            return previous
        }
    }
}
