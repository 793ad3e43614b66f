package import OfferCore

/// A fetched key set and its fetch time.
package struct FetchedKeySet: Sendable {
    package let set: UserKeySet
    package let fetchedAt: ContinuousClock.Instant

    package init(_ set: UserKeySet, fetchedAt: ContinuousClock.Instant) {
        self.set = set
        self.fetchedAt = fetchedAt
    }
}

/// The state of one key set location: the result of the latest read, and the time of the next read.
package struct KeySetState {
    package typealias Reading = Result<(set: UserKeySet, problems: [Diagnostic]), KeySetFault>

    private let place: KeySetLocation
    /// The number and start time of the read in progress.
    private var current: (number: Int, began: ContinuousClock.Instant)?
    private var nextRead: ContinuousClock.Instant?
    private var lastRequestedRead: ContinuousClock.Instant?
    private var failures = 0
    private var failure: Diagnostic?
    private var keyProblems: [Diagnostic] = []
    /// The text that was last read, and the result of parsing it. Unchanged text is not parsed again.
    private var last: (text: KeySetText, reading: Reading)?
    /// The latest set, empty if it was unusable; nil if it has never been fetched.
    package private(set) var fetched: FetchedKeySet?

    /// The interval between successful reads of a URL.
    private static let interval = Duration.seconds(300)
    /// The minimum interval between refreshes triggered by unknown key IDs. Anyone can make a token with an unknown key
    /// ID.
    private static let requestedInterval = Duration.seconds(30)

    package init(_ place: KeySetLocation) {
        self.place = place
    }

    /// Lists the current problems with the location.
    package func problems(at now: ContinuousClock.Instant) -> [Diagnostic] {
        var problems = [failure].compactMap(\.self) + keyProblems
        // A fetch times out earlier, so only a file can take this long.
        if let current, now - current.began > .seconds(20) {
            problems.append(
                Diagnostic(
                    "reading \(place) has taken longer than 20 seconds, so changes to its keys go unnoticed",
                    hint: "check the disk it is on"))
        }
        return problems
    }

    /// Begins a read if one is due.
    /// - Parameters:
    ///   - number: a unique number for the read.
    ///   - isRefreshRequested: true if a token named an unknown key.
    /// - Returns: true if the read begins. If so, the caller must later call one of the methods that end a read.
    package mutating func begin(_ number: Int, at now: ContinuousClock.Instant, isRefreshRequested: Bool) -> Bool {
        guard current == nil else { return false }
        let isRequested = isRefreshRequested && (lastRequestedRead.map { now - $0 >= Self.requestedInterval } ?? true)
        guard isRequested || (nextRead.map { now >= $0 } ?? true) else { return false }
        if isRequested { lastRequestedRead = now }
        current = (number, now)
        return true
    }

    /// Returns true if the read in progress has this number.
    package func isReading(_ number: Int) -> Bool { current?.number == number }

    /// Ends the read in progress with the previous result if the text is unchanged.
    /// - Returns: false, without ending the read, if the text has changed.
    package mutating func endUnchanged(with text: KeySetText, at now: ContinuousClock.Instant) -> Bool {
        guard let last, last.text == text else { return false }
        end(with: text, last.reading, at: now)
        return true
    }

    /// Ends the read in progress with its result.
    package mutating func end(with text: KeySetText, _ reading: Reading, at now: ContinuousClock.Instant) {
        last = (text, reading)
        switch reading {
        case .success(let read):
            current = nil
            failures = 0
            failure = nil
            keyProblems = text.problems + read.problems
            fetched = FetchedKeySet(read.set, fetchedAt: now)
            nextRead = now + (isFile ? .zero : Self.interval)
        case .failure(let fault):
            fail(with: fault, at: now)
            guard fault.kind == .unusable else { return }
            keyProblems = text.problems
            fetched = FetchedKeySet(UserKeySet([]), fetchedAt: now)
        }
    }

    /// Ends the read in progress, which has failed. The previous set stays in force.
    package mutating func fail(with fault: KeySetFault, at now: ContinuousClock.Instant) {
        current = nil
        failure = fault.problem
        failures += 1
        // URLs are retried after 5, 10, 20, 40 and then every 60 seconds. Files are cheap to read and are read every time.
        nextRead = now + (isFile ? .zero : .seconds(min(60, 5 << min(failures - 1, 4))))
    }

    private var isFile: Bool { if case .file = place { true } else { false } }
}
