import Logging
import NIOConcurrencyHelpers
package import OfferCore

/// What ``Health`` has to say beside the state of the keys.
package final class Readiness: Sendable {
    /// Who finds problems; each knows its own alone.
    package enum Source: CaseIterable, Sendable {
        case configuration
        /// The keys that sign.
        case keys
        /// The key sets of identity providers.
        case users
        /// The audit trail.
        case audit
        case clock
        /// The cryptography.
        case selfTest
    }

    private struct State {
        var problems: [Source: [SetupProblem]] = [:]
        var isStopping = false
        var isNewestInForce = true
        /// When the look at the keys began that has not ended yet.
        var lookBegan: ContinuousClock.Instant?
    }

    private let state = NIOLockedValueBox(State())

    package init() {}

    /// What is wrong with the setup while the service goes on with what it has.
    package var problems: [SetupProblem] {
        state.withLockedValue { state in Source.allCases.flatMap { state.problems[$0] ?? [] } }
    }

    func hasProblem(from source: Source) -> Bool { state.withLockedValue { $0.problems[source]?.isEmpty == false } }

    /// Whether the configuration in force is the last that somebody wanted to be; else it has been refused, or waits for
    /// its keys.
    var isNewestInForce: Bool {
        get { state.withLockedValue { $0.isNewestInForce } }
        set { state.withLockedValue { $0.isNewestInForce = newValue } }
    }

    /// That the disk hangs, if it does.
    var hangingDisk: SetupProblem? {
        guard let began = state.withLockedValue({ $0.lookBegan }), .now - began > .seconds(5) else { return nil }
        return SetupProblem(
            "to look at the keys and the configuration takes longer than five seconds, so no change of them is seen",
            hint: "look at the disk that they are on")
    }

    /// Whether the service has been told to stop.
    package var isStopping: Bool { state.withLockedValue { $0.isStopping } }

    func beginLook() { state.withLockedValue { $0.lookBegan = .now } }

    func endLook() { state.withLockedValue { $0.lookBegan = nil } }

    /// Takes the place of what `source` reported before. The log hears of each problem once, and when one is gone.
    func report(_ problems: [SetupProblem], from source: Source, to log: Logger) {
        let old = state.withLockedValue { state in
            let old = state.problems[source] ?? []
            state.problems[source] = problems
            return old
        }
        let (before, now) = (Set(old), Set(problems))
        for problem in problems where !before.contains(problem) {
            log.error("\(problem.error)", metadata: ["hint": "\(problem.hint)"])
        }
        for problem in old where !now.contains(problem) {
            log.notice("no longer so", metadata: ["problem": "\(problem.error)"])
        }
    }

    func stop() { state.withLockedValue { $0.isStopping = true } }
}
