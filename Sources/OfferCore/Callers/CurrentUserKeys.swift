import NIOConcurrencyHelpers

/// The key sets in force, by their issuers. Requests read them, and what looks after them replaces them.
///
/// By their issuers and not by their places, so that an issuer whose keys move has the old ones until the new are there.
package final class CurrentUserKeys: Sendable {
    private struct State {
        var sets: [[UInt8]: UserKeySet] = [:]
        var askedAgain: Set<[UInt8]> = []
    }

    private let state = NIOLockedValueBox(State())

    package init() {}

    /// - Returns: nil if the set has never been had; one without keys if those that were had are good no more.
    package func set(of issuer: UserIssuer) -> UserKeySet? { state.withLockedValue { $0.sets[issuer.issuer] } }

    package func replace(_ set: UserKeySet, of issuer: UserIssuer) {
        // The set that goes is given out of the lock, so that no request waits until its keys are freed.
        _ = state.withLockedValue { $0.sets.updateValue(set, forKey: issuer.issuer) }
    }

    /// Forgets the sets of all other issuers.
    package func keep(_ issuers: [UserIssuer]) {
        let names = Set(issuers.map(\.issuer))
        _ = state.withLockedValue { state in
            let previous = state.sets
            state.sets = previous.filter { names.contains($0.key) }
            state.askedAgain.formIntersection(names)
            return previous
        }
    }

    /// Notes that a token names a key that is not in the set: its issuer may have a new one.
    package func askAgain(for issuer: UserIssuer) {
        state.withLockedValue { state in
            // Issuers that are looked after, and no others, so that this cannot grow.
            guard state.sets[issuer.issuer] != nil else { return }
            state.askedAgain.insert(issuer.issuer)
        }
    }

    package func isAskedAgain(for issuer: UserIssuer) -> Bool {
        state.withLockedValue { $0.askedAgain.contains(issuer.issuer) }
    }

    package func clearAsking(for issuer: UserIssuer) {
        state.withLockedValue { _ = $0.askedAgain.remove(issuer.issuer) }
    }
}
