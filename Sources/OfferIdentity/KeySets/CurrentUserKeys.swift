import NIOConcurrencyHelpers
package import OfferCore

/// The key sets in force, by location. Requests read them, and ``JWKSRefresher`` replaces them.
///
/// A request looks up the location that its policy names. An issuer whose location changes therefore loses its old keys
/// immediately, and has none until the new location has been read.
package final class CurrentUserKeys: Sendable {
    private struct State {
        var sets: [KeySetLocation: UserKeySet] = [:]
        var refreshRequests: Set<KeySetLocation> = []
    }

    private let state = NIOLockedValueBox(State())

    package init() {}

    /// Returns the key set at an issuer's location: nil if it has never been fetched, empty if its keys must no longer be
    /// used.
    package func set(of issuer: UserIssuer) -> UserKeySet? { state.withLockedValue { $0.sets[issuer.keys] } }

    package func replace(_ set: UserKeySet, of issuer: UserIssuer) {
        // The previous set is released outside the lock, so no request waits while its keys are freed.
        _ = state.withLockedValue { $0.sets.updateValue(set, forKey: issuer.keys) }
    }

    /// Removes the sets at all other locations.
    package func keep(_ issuers: [UserIssuer]) {
        let places = Set(issuers.map(\.keys))
        _ = state.withLockedValue { state in
            let previous = state.sets
            state.sets = previous.filter { places.contains($0.key) }
            state.refreshRequests.formIntersection(places)
            return previous
        }
    }

    /// Requests a refresh after a token named a key that is not in the set. The issuer may have a new key.
    package func requestRefresh(of issuer: UserIssuer) {
        state.withLockedValue { state in
            // Only requests for known locations are stored, so the set cannot grow without bound.
            guard state.sets[issuer.keys] != nil else { return }
            state.refreshRequests.insert(issuer.keys)
        }
    }

    package func isRefreshRequested(of issuer: UserIssuer) -> Bool {
        state.withLockedValue { $0.refreshRequests.contains(issuer.keys) }
    }

    package func clearRefreshRequest(of issuer: UserIssuer) {
        state.withLockedValue { _ = $0.refreshRequests.remove(issuer.keys) }
    }
}
