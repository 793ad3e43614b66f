import OfferConfiguration

/// The pause for a receiver that accepts nothing: one second at first, then doubled up to a minute.
struct ReceiverPause: Hashable {
    private var failures = 0
    private(set) var end: ContinuousClock.Instant?

    private static let longest = Duration.seconds(60)

    /// Returns true if nothing should be sent now.
    func isOn(at now: ContinuousClock.Instant) -> Bool { end.map { now < $0 } ?? false }

    /// Returns the number of notifications to send next: one if the receiver is failing.
    func groupSize(of usual: Int) -> Int { failures == 0 ? usual : 1 }

    var isFailing: Bool { failures > 0 }

    mutating func noteFailure(at now: ContinuousClock.Instant) {
        end = now + min(Self.longest, .seconds(1) * (1 << min(failures, 6)))
        failures += 1
    }
}
