import CoreMetrics
package import Logging
package import OfferCore
import ServiceLifecycle

/// Looks at the clock every second and at the cryptography every minute, for as long as the service runs.
package actor HealthKeeper: Service {
    private let selfTest: SelfTest
    private let clock: ClockCheck
    private let now: @Sendable () -> Timestamp
    private let steadyNow: @Sendable () -> ContinuousClock.Instant
    private let readiness: Readiness
    private let metrics: ServiceMetrics
    private let log: Logger
    private var watch = ClockWatch()
    /// As it was when it was noticed: it would be another one every second.
    private var beforeBuild: SetupProblem?
    private var tested: ContinuousClock.Instant

    /// - Parameters:
    ///   - now: what signatures take for the time.
    ///   - steadyNow: what nobody can set.
    package init(
        selfTest: SelfTest, clock: ClockCheck, now: @escaping @Sendable () -> Timestamp,
        steadyNow: @escaping @Sendable () -> ContinuousClock.Instant = { .now }, readiness: Readiness,
        metrics: ServiceMetrics, log: Logger
    ) {
        self.selfTest = selfTest
        self.clock = clock
        self.now = now
        self.steadyNow = steadyNow
        self.readiness = readiness
        self.metrics = metrics
        self.log = log
        tested = steadyNow()
    }

    package func run() async throws {
        await cancelWhenGracefulShutdown {
            repeat { await self.look() } while (try? await Task.sleep(for: .seconds(1))) != nil
        }
    }

    package func look() {
        let (wall, steady) = (now(), steadyNow())
        if watch.note(wall: wall, steady: steady) { metrics.clockSteps.increment() }
        beforeBuild = wall < clock.earliest ? beforeBuild ?? clock.problem(now: wall.date, files: []) : nil
        readiness.report([beforeBuild, watch.problem(at: steady)].compactMap(\.self), from: .clock, to: log)
        guard selfTest.holds, steady - tested >= .seconds(60) else { return }
        tested = steady
        if let problem = selfTest.repeated() { readiness.report([problem], from: .selfTest, to: log) }
    }
}
