import NIOConcurrencyHelpers

/// Progress through the stored subscriptions, which several tasks report.
final class ProgressLines: Sendable {
    private let next = NIOLockedValueBox(ContinuousClock.now + .seconds(1))

    /// - Parameter share: the share of the work that is done, from 0 to 1.
    func report(_ share: Double) {
        let isDue = next.withLockedValue { next in
            guard ContinuousClock.now >= next else { return false }
            next = .now + .seconds(1)
            return true
        }
        if isDue { StandardStreams.printError("\(Int(share * 100)) % of the subscriptions\n") }
    }
}
