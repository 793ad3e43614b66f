import Logging
import NIOConcurrencyHelpers
package import OfferCore

/// What ``Health`` has to say beside the state of the keys.
package final class Readiness: Sendable {
    /// Who finds problems; each knows its own alone.
    package enum Source: CaseIterable, Sendable {
        /// The configuration and the keys that sign.
        case keyRing
        /// The key sets of identity providers.
        case users
        /// The audit trail.
        case audit
    }

    private struct State {
        var problems: [Source: [SetupProblem]] = [:]
        var isStopping = false
        /// When the look at the keys began that has not ended yet.
        var lookBegan: ContinuousClock.Instant?
    }

    private let state = NIOLockedValueBox(State())

    package init() {}

    /// What is wrong with the setup while the service goes on with what it has.
    package var problems: [SetupProblem] {
        state.withLockedValue { state in Source.allCases.flatMap { state.problems[$0] ?? [] } }
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
