package import OfferCore

/// A key set, and when it was last had.
package struct HadKeySet: Sendable {
    package let set: UserKeySet
    package let lastHad: ContinuousClock.Instant

    package init(_ set: UserKeySet, lastHad: ContinuousClock.Instant) {
        self.set = set
        self.lastHad = lastHad
    }
}

/// What is known of one place with a key set, and when it is to be read again.
package struct KeySetState {
    package typealias Reading = Result<(set: UserKeySet, problems: [SetupProblem]), KeySetFault>

    private let place: KeySetPlace
    /// Which reading has not ended yet, and when it began.
    private var current: (number: Int, began: ContinuousClock.Instant)?
    private var nextRead: ContinuousClock.Instant?
    private var lastAsked: ContinuousClock.Instant?
    private var failures = 0
    private var failure: SetupProblem?
    private var problemsOfKeys: [SetupProblem] = []
    /// The text that was read last, and what came of it, so that the same is not worked out every second.
    private var last: (text: KeySetText, reading: Reading)?
    /// The set that the place has; one without keys if it says so. nil if it has never been had.
    package private(set) var had: HadKeySet?

    /// How often a URL is read that works.
    private static let interval = Duration.seconds(300)
    /// How often at most because of tokens that name keys which are not there: anybody can make such a token.
    private static let intervalOfAsking = Duration.seconds(30)

    package init(_ place: KeySetPlace) {
        self.place = place
    }

    /// What is wrong with it.
    package func problems(at now: ContinuousClock.Instant) -> [SetupProblem] {
        var problems = [failure].compactMap(\.self) + problemsOfKeys
        // Fetching is given up before that.
        if let current, now - current.began > .seconds(20) {
            problems.append(
                SetupProblem(
                    "to read \(place) takes longer than twenty seconds, so no change of its keys is seen",
                    hint: "look at the disk that it is on"))
        }
        return problems
    }

    /// - Parameters:
    ///   - isAskedAgain: whether a token names a key that is not there.
    ///   - number: of the reading, if it is to begin; no other has it.
    /// - Returns: whether the place is to be read now; then the reading has to end.
    package mutating func begin(_ number: Int, at now: ContinuousClock.Instant, isAskedAgain: Bool) -> Bool {
        guard current == nil else { return false }
        let mayAsk = isAskedAgain && (lastAsked.map { now - $0 >= Self.intervalOfAsking } ?? true)
        guard mayAsk || (nextRead.map { now >= $0 } ?? true) else { return false }
        if mayAsk { lastAsked = now }
        current = (number, now)
        return true
    }

    /// Whether this reading is the one that is waited for.
    package func isReading(_ number: Int) -> Bool { current?.number == number }

    /// Ends the reading of a text that is as it was.
    /// - Returns: `false`, and nothing is done, if it is another.
    package mutating func end(with text: KeySetText, at now: ContinuousClock.Instant) -> Bool {
        guard let last, last.text == text else { return false }
        end(with: text, last.reading, at: now)
        return true
    }

    package mutating func end(with text: KeySetText, _ reading: Reading, at now: ContinuousClock.Instant) {
        last = (text, reading)
        switch reading {
        case .success(let read):
            current = nil
            failures = 0
            failure = nil
            problemsOfKeys = text.problems + read.problems
            had = HadKeySet(read.set, lastHad: now)
            nextRead = now + (isFile ? .zero : Self.interval)
        case .failure(let fault):
            fail(with: fault, at: now)
            guard fault.kind == .bad else { return }
            problemsOfKeys = text.problems
            had = HadKeySet(UserKeySet([]), lastHad: now)
        }
    }

    /// Ends a reading that came to nothing. The set that was had before stays.
    package mutating func fail(with fault: KeySetFault, at now: ContinuousClock.Instant) {
        current = nil
        failure = fault.problem
        failures += 1
        // 5, 10, 20, 40 and then 60 seconds; a file costs nothing to look at.
        nextRead = now + (isFile ? .zero : .seconds(min(60, 5 << min(failures - 1, 4))))
    }

    private var isFile: Bool { if case .file = place { true } else { false } }
}
