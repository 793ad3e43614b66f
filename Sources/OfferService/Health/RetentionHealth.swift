import Logging
import NIOConcurrencyHelpers
import NIOCore
import OfferCore
import OfferTelemetry
import SubscriberSync

/// A counter of retention messages chosen without a decision. It reports a problem when there are too many.
package final class RetentionHealth: Sendable {
    private struct Minute {
        let number: Int64
        var answers = 0
        var undecided = 0
    }

    private let uptime: @Sendable () -> NIODeadline
    private let readiness: Readiness
    private let log: Logger
    /// The latest minutes in which there were answers, the oldest first.
    private let minutes = NIOLockedValueBox<[Minute]>([])

    /// The number of latest minutes that count.
    private static let window: Int64 = 10
    /// Of this many messages, one may be undecided. Apple's performance test requires 98 %.
    private static let tolerated = 50
    /// The minimum number of undecided messages for a problem, so that a single failure is not a problem.
    private static let minimum = 5

    init(uptime: @escaping @Sendable () -> NIODeadline, readiness: Readiness, log: Logger) {
        self.uptime = uptime
        self.readiness = readiness
        self.log = log
    }

    /// - Parameter isDecision: see ``RetentionAnswer/Reason/isDecision``.
    func note(isDecision: Bool) {
        let number = minute
        minutes.withLockedValue { minutes in
            if minutes.last?.number != number { minutes.append(Minute(number: number)) }
            minutes[minutes.count - 1].answers += 1
            if !isDecision { minutes[minutes.count - 1].undecided += 1 }
        }
    }

    /// Reports the problem, or clears it if it is over.
    package func check() {
        let first = minute - Self.window
        let (answers, undecided) = minutes.withLockedValue { minutes in
            minutes.removeAll { $0.number <= first }
            return (minutes.reduce(0) { $0 + $1.answers }, minutes.reduce(0) { $0 + $1.undecided })
        }
        let isProblem = undecided >= Self.minimum && undecided * Self.tolerated > answers
        readiness.report(isProblem ? [Self.problem] : [], from: .retention, level: .warning, to: log)
    }

    private var minute: Int64 { Int64(uptime().uptimeNanoseconds / 60_000_000_000) }

    private static let problem = Diagnostic(
        "more than one in fifty retention messages of the last ten minutes were chosen without the rules",
        hint: """
            the reason label of offer_signer_retention_answers_total says why; see docs/incidents.md, Retention messages \
            are late
            """)
}
