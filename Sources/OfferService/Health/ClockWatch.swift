import OfferCore
import OfferEligibility

/// A detector of changes to the clock. It compares the clock with one that cannot be set.
///
/// The reference is `ContinuousClock`, which is `CLOCK_BOOTTIME` on Linux and keeps running while the machine is
/// suspended. `CLOCK_MONOTONIC` stops, so every resume would look like a step. NTP adjusts the speed of both clocks
/// equally, so its gradual corrections go unnoticed, however long they take. Only steps are detected.
struct ClockWatch {
    private var last: (wall: Timestamp, steady: ContinuousClock.Instant)?
    private var step: (problem: Diagnostic, at: ContinuousClock.Instant)?

    /// The largest difference that is not a step. It exceeds a leap second, and the time between reading the two clocks
    /// on a busy machine.
    private static let toleranceMilliseconds: Int64 = 2000
    /// The period during which a step is reported, so that an operator sees it. A clock that was set once may be set
    /// again.
    private static let memory: Duration = .seconds(600)

    /// - Returns: true if the clock was set since the last call.
    mutating func note(wall: Timestamp, steady: ContinuousClock.Instant) -> Bool {
        defer { last = (wall, steady) }
        guard let last else { return false }
        let passed = Int64((steady - last.steady) / .milliseconds(1))
        let expected = Timestamp(milliseconds: last.wall.milliseconds + passed)
        guard abs(wall.milliseconds - expected.milliseconds) > Self.toleranceMilliseconds else { return false }
        step = (Self.problem(from: expected, to: wall), steady)
        return true
    }

    /// Returns a problem if the clock was set in the last ten minutes; otherwise nil.
    func problem(at steady: ContinuousClock.Instant) -> Diagnostic? {
        step.flatMap { steady - $0.at < Self.memory ? $0.problem : nil }
    }

    private static func problem(from old: Timestamp, to new: Timestamp) -> Diagnostic {
        func text(_ time: Timestamp) -> String { String(decoding: time.iso8601, as: UTF8.self) }
        return Diagnostic(
            "the clock was set from \(text(old)) to \(text(new))",
            hint: """
                keep it synchronised (NTP), and check earlier signatures: the App Store refuses those with a wrong \
                timestamp
                """)
    }
}
