import NIOConcurrencyHelpers
package import OfferCore

/// What ``Health`` has to say beside the state of the keys.
package final class Readiness: Sendable {
    private struct State {
        var problems: [SetupProblem] = []
        var isStopping = false
        /// When the look at the keys began that has not ended yet.
        var lookBegan: ContinuousClock.Instant?
    }

    private let state = NIOLockedValueBox(State())

    package init() {}

    /// What is wrong with the setup while the service goes on with what it has.
    package var problems: [SetupProblem] { state.withLockedValue { $0.problems } }

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

    func report(_ problems: [SetupProblem]) { state.withLockedValue { $0.problems = problems } }

    func stop() { state.withLockedValue { $0.isStopping = true } }
}
