import NIOConcurrencyHelpers
package import OfferCore

/// What ``Health`` has to say beside the state of the keys.
package final class Readiness: Sendable {
    private struct State {
        var problems: [SetupProblem] = []
        var isStopping = false
    }

    private let state = NIOLockedValueBox(State())

    package init() {}

    /// What is wrong with the setup while the service goes on with what it has.
    package var problems: [SetupProblem] { state.withLockedValue { $0.problems } }

    /// Whether the service has been told to stop.
    package var isStopping: Bool { state.withLockedValue { $0.isStopping } }

    func report(_ problems: [SetupProblem]) { state.withLockedValue { $0.problems = problems } }

    func stop() { state.withLockedValue { $0.isStopping = true } }
}
