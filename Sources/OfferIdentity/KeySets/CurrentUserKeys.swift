import NIOConcurrencyHelpers
package import OfferCore

/// The key sets in force, by issuer. Requests read them, and ``JWKSRefresher`` replaces them.
///
/// The sets are stored by issuer, not by location, so an issuer whose location changes keeps its old keys until the new
/// ones are fetched.
package final class CurrentUserKeys: Sendable {
    private struct State {
        var sets: [[UInt8]: UserKeySet] = [:]
        var refreshRequests: Set<[UInt8]> = []
    }

    private let state = NIOLockedValueBox(State())

    package init() {}

    /// Returns the key set of an issuer: nil if it has never been fetched, empty if its keys must no longer be used.
    package func set(of issuer: UserIssuer) -> UserKeySet? { state.withLockedValue { $0.sets[issuer.issuer] } }

    package func replace(_ set: UserKeySet, of issuer: UserIssuer) {
        // The previous set is released outside the lock, so no request waits while its keys are freed.
        _ = state.withLockedValue { $0.sets.updateValue(set, forKey: issuer.issuer) }
    }

    /// Removes the sets of all other issuers.
    package func keep(_ issuers: [UserIssuer]) {
        let names = Set(issuers.map(\.issuer))
        _ = state.withLockedValue { state in
            let previous = state.sets
            state.sets = previous.filter { names.contains($0.key) }
            state.refreshRequests.formIntersection(names)
            return previous
        }
    }

    /// Requests a refresh after a token named a key that is not in the set. The issuer may have a new key.
    package func requestRefresh(of issuer: UserIssuer) {
        state.withLockedValue { state in
            // Only requests for known issuers are stored, so the set cannot grow without bound.
            guard state.sets[issuer.issuer] != nil else { return }
            state.refreshRequests.insert(issuer.issuer)
        }
    }

    package func isRefreshRequested(of issuer: UserIssuer) -> Bool {
        state.withLockedValue { $0.refreshRequests.contains(issuer.issuer) }
    }

    package func clearRefreshRequest(of issuer: UserIssuer) {
        state.withLockedValue { _ = $0.refreshRequests.remove(issuer.issuer) }
    }
}
