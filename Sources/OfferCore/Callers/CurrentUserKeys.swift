import NIOConcurrencyHelpers

/// The key sets in force, by their places. Requests read them, and what looks after them replaces them.
package final class CurrentUserKeys: Sendable {
    private struct State {
        var sets: [KeySetPlace: UserKeySet] = [:]
        var askedAgain: Set<KeySetPlace> = []
    }

    private let state = NIOLockedValueBox(State())

    package init() {}

    /// - Returns: nil if the set has never been had.
    package func set(at place: KeySetPlace) -> UserKeySet? { state.withLockedValue { $0.sets[place] } }

    /// - Parameter set: nil where nobody wants it any more.
    package func replace(_ set: UserKeySet?, at place: KeySetPlace) {
        // The set that goes is given out of the lock, so that no request waits until its keys are freed.
        _ = state.withLockedValue { state in
            let previous = state.sets[place]
            state.sets[place] = set
            if set == nil { state.askedAgain.remove(place) }
            return previous
        }
    }

    /// Notes that a token names a key that is not in the set: its issuer may have a new one.
    package func askAgain(at place: KeySetPlace) {
        state.withLockedValue { state in
            // Places that are looked after, and no others, so that this cannot grow.
            guard state.sets[place] != nil else { return }
            state.askedAgain.insert(place)
        }
    }

    package func isAskedAgain(at place: KeySetPlace) -> Bool {
        state.withLockedValue { $0.askedAgain.contains(place) }
    }

    package func clearAsking(at place: KeySetPlace) {
        state.withLockedValue { _ = $0.askedAgain.remove(place) }
    }
}
