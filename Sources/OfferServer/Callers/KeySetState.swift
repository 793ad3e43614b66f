package import OfferCore

/// What is known of one place with a key set, and when it is to be read again.
package struct KeySetState {
    private let place: KeySetPlace
    /// When the reading began that has not ended yet.
    private var readingBegan: ContinuousClock.Instant?
    private var nextRead: ContinuousClock.Instant?
    private var lastAsked: ContinuousClock.Instant?
    private var failures = 0
    private var failure: SetupProblem?
    private var problemsOfKeys: [SetupProblem] = []
    /// The text of the set in force.
    package private(set) var text: [UInt8]?

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
        if let readingBegan, now - readingBegan > .seconds(20) {
            problems.append(
                SetupProblem(
                    "to read \(place) takes longer than twenty seconds, so no change of its keys is seen",
                    hint: "look at the disk that it is on"))
        }
        return problems
    }

    /// - Parameter isAskedAgain: whether a token names a key that is not there.
    /// - Returns: whether the place is to be read now; then ``succeed(at:)`` or ``fail(with:at:)`` has to follow.
    package mutating func begin(at now: ContinuousClock.Instant, isAskedAgain: Bool) -> Bool {
        guard readingBegan == nil else { return false }
        let mayAsk = isAskedAgain && (lastAsked.map { now - $0 >= Self.intervalOfAsking } ?? true)
        guard mayAsk || (nextRead.map { now >= $0 } ?? true) else { return false }
        if mayAsk { lastAsked = now }
        readingBegan = now
        return true
    }

    /// It is as it was.
    package mutating func succeed(at now: ContinuousClock.Instant) {
        readingBegan = nil
        failures = 0
        failure = nil
        nextRead = now + (isFile ? .zero : Self.interval)
    }

    package mutating func succeed(
        with text: [UInt8], problems: [SetupProblem], at now: ContinuousClock.Instant
    ) {
        self.text = text
        problemsOfKeys = problems
        succeed(at: now)
    }

    /// The set in force stays.
    package mutating func fail(with problem: SetupProblem, at now: ContinuousClock.Instant) {
        readingBegan = nil
        failure = problem
        failures += 1
        // 5, 10, 20, 40 and then 60 seconds; a file costs nothing to look at.
        nextRead = now + (isFile ? .zero : .seconds(min(60, 5 << min(failures - 1, 4))))
    }

    private var isFile: Bool { if case .file = place { true } else { false } }
}
