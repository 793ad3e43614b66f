package import Logging
import NIOConcurrencyHelpers
package import OfferCore

/// The problems that the parts of a running service report, and whether the service is stopping.
package final class Readiness: Sendable {
    /// A part of the service that reports problems. Each part replaces only its own problems.
    package enum Source: CaseIterable, Sendable {
        case configuration
        /// The signing keys.
        case keys
        /// The callers that may make requests.
        case callers
        /// The key sets of identity providers.
        case users
        case audit
        case clock
        /// The cryptographic self-test.
        case selfTest
        /// The verification of signed App Store data.
        case appStore
        /// The App Store's answers to the service's own requests.
        case appStoreAPI
        /// The catalogue, compared with App Store Connect.
        case appStoreConnect
        /// The database of subscribers.
        case store
        /// The notifications of the App Store, and their receivers.
        case notifications
        /// Redemptions without an authorisation.
        case ledger
        /// The answers to the App Store about customers who may cancel.
        case retention
    }

    private struct State {
        var problems: [Source: [Diagnostic]] = [:]
        var isStopping = false
        var isNewestInForce = true
        /// The start of the current scan of keys and configuration; nil between scans.
        var scanBegan: ContinuousClock.Instant?
    }

    private let state = NIOLockedValueBox(State())

    package init() {}

    /// All reported problems.
    package var problems: [Diagnostic] {
        state.withLockedValue { state in Source.allCases.flatMap { state.problems[$0] ?? [] } }
    }

    package func hasProblem(from source: Source) -> Bool {
        state.withLockedValue { $0.problems[source]?.isEmpty == false }
    }

    /// True if the configuration in force is the newest one. False if a newer one was refused or is waiting for its
    /// keys.
    package var isNewestInForce: Bool {
        get { state.withLockedValue { $0.isNewestInForce } }
        set { state.withLockedValue { $0.isNewestInForce = newValue } }
    }

    /// The problem reported if a scan of keys and configuration has taken longer than five seconds; nil otherwise.
    package var hangingDisk: Diagnostic? {
        guard let began = state.withLockedValue({ $0.scanBegan }), .now - began > .seconds(5) else { return nil }
        return Diagnostic(
            "reading the keys and the configuration has taken longer than five seconds, so changes are not seen",
            hint: "check the disk that holds them")
    }

    /// True if the service has been told to stop.
    package var isStopping: Bool { state.withLockedValue { $0.isStopping } }

    package func beginScan() { state.withLockedValue { $0.scanBegan = .now } }

    package func endScan() { state.withLockedValue { $0.scanBegan = nil } }

    /// Replaces the problems that `source` reported before. Each problem is logged once when it appears and once when
    /// it is resolved.
    /// - Parameter level: the log level of a problem that appears.
    package func report(
        _ problems: [Diagnostic], from source: Source, level: Logger.Level = .error, to log: Logger
    ) {
        let old = state.withLockedValue { state in
            let old = state.problems[source] ?? []
            state.problems[source] = problems
            return old
        }
        let (before, now) = (Set(old), Set(problems))
        for problem in problems where !before.contains(problem) {
            log.log(level: level, "\(problem.error)", metadata: ["hint": "\(problem.hint)"])
        }
        for problem in old where !now.contains(problem) {
            log.notice("problem resolved", metadata: ["problem": "\(problem.error)"])
        }
    }

    package func stop() { state.withLockedValue { $0.isStopping = true } }
}
