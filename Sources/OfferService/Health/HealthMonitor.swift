package import Logging
package import OfferAudit
package import OfferConfiguration
package import OfferCore
package import OfferTelemetry
import ServiceLifecycle

/// The service that checks the clock every second, and the cryptography, each active key and the audit trail every
/// minute. Every second, it also retries tests that could not run, logs the number of refused requests of strangers,
/// and checks the retention messages.
package actor HealthMonitor: Service {
    private let selfTest: SelfTest
    private let keys: KeyHealth
    private let retention: RetentionHealth?
    private let trail: AuditTrail?
    private let clock: ClockCheck
    private let now: @Sendable () -> Timestamp
    private let steadyNow: @Sendable () -> ContinuousClock.Instant
    private let readiness: Readiness
    private let metrics: ServiceMetrics
    private let refusals: RefusalLog?
    private let log: Logger
    private var watch = ClockWatch()
    /// The problem reported when the clock was first found to be behind the build date. It is kept because its text
    /// contains the time, so a new problem would differ every second.
    private var beforeBuild: Diagnostic?
    private var lastTest: ContinuousClock.Instant
    private var lastHead: ContinuousClock.Instant

    /// - Parameters:
    ///   - trail: nil if there is no audit trail.
    ///   - now: the wall clock that signatures use.
    ///   - steadyNow: a clock that cannot be set.
    package init(
        selfTest: SelfTest, keys: KeyHealth, retention: RetentionHealth? = nil, trail: AuditTrail? = nil,
        clock: ClockCheck,
        now: @escaping @Sendable () -> Timestamp,
        steadyNow: @escaping @Sendable () -> ContinuousClock.Instant = { .now }, readiness: Readiness,
        metrics: ServiceMetrics, refusals: RefusalLog? = nil, log: Logger
    ) {
        self.selfTest = selfTest
        self.keys = keys
        self.retention = retention
        self.trail = trail
        self.clock = clock
        self.now = now
        self.steadyNow = steadyNow
        self.readiness = readiness
        self.metrics = metrics
        self.refusals = refusals
        self.log = log
        lastTest = steadyNow()
        lastHead = lastTest
    }

    package func run() async throws {
        await cancelWhenGracefulShutdown {
            await Periodic.run(every: .seconds(1)) { await self.check() }
        }
        refusals?.flush()
    }

    package func check() async {
        refusals?.flush()
        retention?.check()
        let (wall, steady) = (now(), steadyNow())
        if watch.note(wall: wall, steady: steady) { metrics.clockSteps.increment() }
        beforeBuild = wall < clock.earliest ? beforeBuild ?? clock.problem(now: wall.date, files: []) : nil
        readiness.report([beforeBuild, watch.problem(at: steady)].compactMap(\.self), from: .clock, to: log)
        if steady - lastHead >= .seconds(3600) {
            lastHead = steady
            trail?.logHead()
        }
        let isMinuteOver = steady - lastTest >= .seconds(60)
        if isMinuteOver {
            lastTest = steady
            trail?.checkLines()
        }
        guard selfTest.holds else { return }
        if isMinuteOver || !selfTest.isPassed {
            readiness.report([selfTest.repeated()].compactMap(\.self), from: .selfTest, to: log)
        }
        guard selfTest.holds else { return }
        await keys.test(isMinuteOver ? .allActive : .unable)
    }
}
