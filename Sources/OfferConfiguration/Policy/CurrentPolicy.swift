import FoundationEssentials
import NIOConcurrencyHelpers
package import OfferCore
package import OfferEligibility

/// The policy in force. Each request uses one snapshot from start to finish, so it never sees a partial change.
package final class CurrentPolicy: Sendable {
    private struct State {
        var policy: Policy
        var standings: [KeyID: KeyStanding] = [:]
    }

    private let state: NIOLockedValueBox<State>
    private let now: @Sendable () -> Timestamp
    /// The App Store Connect data for each app. Only the holder of this lock replaces the catalogue. Requests never wait
    /// for it.
    private let listings = NIOLockedValueBox<[BundleID: AppListing]>([:])

    package init(_ policy: Policy, now: @escaping @Sendable () -> Timestamp = { Timestamp(Date()) }) {
        self.now = now
        var state = State(policy: policy)
        state.standings.note(policy.ring, at: now(), isStart: true)
        self.state = NIOLockedValueBox(state)
    }

    package var snapshot: Policy { state.withLockedValue { $0.policy } }

    /// The state of each key of the ring, and since when.
    package var standings: [KeyID: KeyStanding] { state.withLockedValue { $0.standings } }

    package func takeOutOfService(_ id: KeyID) {
        change { policy in
            var ring = policy.ring
            ring.takeOutOfService(id)
            return policy.with(ring)
        }
    }

    /// Puts `next` in force, with the App Store Connect data. A key that was taken out of service while `next` was being
    /// prepared stays out of service.
    package func replace(with next: Policy) {
        listings.withLockedValue { listings in
            change { [next = next.adding(listings)] policy in next.mergingOutOfService(from: policy.ring) }
        }
    }

    /// Replaces the App Store Connect data of all apps.
    package func use(_ new: [BundleID: AppListing]) {
        listings.withLockedValue { listings in
            listings = new
            let next = snapshot.adding(new)
            change { policy in next.with(policy.ring) }
        }
    }

    /// Drops the App Store Connect data that was not read in this period.
    package func dropListings(readOutside period: ClosedRange<Timestamp>) {
        listings.withLockedValue { listings in
            let kept = listings.filter { period.contains($0.value.readAt) }
            guard kept.count < listings.count else { return }
            listings = kept
            let next = snapshot.adding(kept)
            change { policy in next.with(policy.ring) }
        }
    }

    private func change(_ next: (Policy) -> Policy) {
        let time = now()
        // The previous policy is released outside the lock, so no request waits while its keys are freed.
        _ = state.withLockedValue { state in
            let previous = state.policy
            state.policy = next(previous)
            state.standings.note(state.policy.ring, at: time, isStart: false)
            return previous
        }
    }
}
