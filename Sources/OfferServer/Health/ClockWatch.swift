import OfferCore

/// Notices when somebody sets the clock: then it moves otherwise than a clock that nobody can set.
///
/// The other one is the `ContinuousClock`, on Linux `CLOCK_BOOTTIME`: it goes on while a machine is suspended, where
/// `CLOCK_MONOTONIC` stands still and every resumption would look like a step. NTP makes both faster or slower alike, so only
/// steps are seen, however long it takes to come right by small ones.
struct ClockWatch {
    private var last: (wall: Timestamp, steady: ContinuousClock.Instant)?
    private var step: (problem: SetupProblem, at: ContinuousClock.Instant)?

    /// Larger than a leap second, and than what passes between two readings on a machine that is busy.
    private static let toleranceMilliseconds: Int64 = 2000
    /// A clock that was set once may be set again, and somebody should get to see it.
    private static let memory: Duration = .seconds(600)

    /// - Returns: whether the clock has been set since the last time.
    mutating func note(wall: Timestamp, steady: ContinuousClock.Instant) -> Bool {
        defer { last = (wall, steady) }
        guard let last else { return false }
        let passed = Int64((steady - last.steady) / .milliseconds(1))
        let expected = Timestamp(milliseconds: last.wall.milliseconds + passed)
        guard abs(wall.milliseconds - expected.milliseconds) > Self.toleranceMilliseconds else { return false }
        step = (Self.problem(from: expected, to: wall), steady)
        return true
    }

    /// What is wrong as long as the last step is not ten minutes ago.
    func problem(at steady: ContinuousClock.Instant) -> SetupProblem? {
        step.flatMap { steady - $0.at < Self.memory ? $0.problem : nil }
    }

    private static func problem(from old: Timestamp, to new: Timestamp) -> SetupProblem {
        func text(_ time: Timestamp) -> String { String(decoding: time.iso8601, as: UTF8.self) }
        return SetupProblem(
            "the clock was set from \(text(old)) to \(text(new))",
            hint: """
                keep it right all the time (NTP), and look at what was signed before: the App Store refuses signatures \
                with a wrong time
                """)
    }
}
