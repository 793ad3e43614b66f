package import Logging
import NIOCore
import NIOPosix
package import OfferCore
import OfferCrypto
import OfferEligibility
package import OfferHTTP
import OfferKeys
package import OfferTelemetry
import ServiceLifecycle
package import UnixSignals

/// The service that applies changes to the configuration and the key folder while the server runs.
///
/// A reload reads the configuration, checks it (``ReloadRules``), plans a key ring, and swaps the policy and the
/// certificate. It applies all of the configuration or none of it, except for the log level. If something required is
/// missing or refused, the previous policy stays in force, and the readiness probe says why.
package actor ConfigurationReloader: Service {
    /// A function that rereads the whole configuration.
    package typealias ReadConfiguration = @Sendable () throws(ConfigurationError) -> Configuration

    private let readConfiguration: ReadConfiguration
    private let reloadSignals: UnixSignalsSequence
    private let readiness: Readiness
    private let observe: @Sendable (_ isApplied: Bool) -> Void
    private let log: Logger
    private let logLevel: LogLevel
    /// The configuration at startup, which determines where the service listens and what it records.
    private let running: Configuration
    /// The configuration in force.
    private var inForce: Configuration
    /// The configuration to apply when its keys are available; equal to `inForce` if none is waiting.
    private var wanted: Configuration
    private var keys: AvailableKeys
    /// The problems with the configuration last read.
    private var problems: [Diagnostic] = []
    /// True if the configuration last read was refused.
    private var isRefused = false

    package nonisolated let policy: CurrentPolicy
    package nonisolated let certificate: CurrentCertificate

    // A dedicated thread, so that a hanging disk blocks nothing else.
    private nonisolated let thread = MultiThreadedEventLoopGroup(numberOfThreads: 1).any()
    // This is safe, because the actor owns the thread, which therefore lives at least as long as the actor.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe thread.executor.asUnownedSerialExecutor()
    }

    /// - Parameters:
    ///   - reloadSignals: signals that each trigger a reload.
    ///   - logLevel: the current log level, which reloads change.
    ///   - observe: called after each reload, with true if it was applied.
    /// - Throws: every problem, if any key that the configuration requires is unavailable.
    package init(
        _ configuration: Configuration, readConfiguration: @escaping ReadConfiguration,
        reloadSignals: UnixSignalsSequence, readiness: Readiness, log: Logger, logLevel: LogLevel,
        observe: @escaping @Sendable (_ isApplied: Bool) -> Void
    ) throws(ConfigurationError) {
        self.readConfiguration = readConfiguration
        self.reloadSignals = reloadSignals
        self.readiness = readiness
        self.observe = observe
        self.log = log
        self.logLevel = logLevel
        running = configuration
        inForce = configuration
        wanted = configuration
        keys = AvailableKeys(configuration.keys)
        let plan = keys.plan(from: KeyRing())
        guard plan.isComplete else { throw ConfigurationError(problems: plan.problems) }
        policy = CurrentPolicy(Policy(plan.ring, configuration))
        certificate = CurrentCertificate(configuration.certificate)
        log.notice("keys in force", metadata: plan.ring.summary)
        Self.warn(about: configuration, log)
        readiness.report(plan.problems, from: .keys, to: log)
        readiness.report(configuration.callersProblems, from: .callers, level: .warning, to: log)
    }

    private static func warn(about configuration: Configuration, _ log: Logger) {
        guard let notice = configuration.proxyNotice else { return }
        log.warning("\(notice.error)", metadata: ["hint": "\(notice.hint)"])
    }

    /// Scans the key folder every second and reloads on every signal, until the service stops.
    package func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                group.addTask {
                    await self.precomputeKeys()
                    for await _ in self.reloadSignals {
                        await self.reload()
                        await self.precomputeKeys()
                    }
                }
                group.addTask {
                    while (try? await Task.sleep(for: .seconds(1))) != nil {
                        if await self.scan() { await self.precomputeKeys() }
                    }
                }
            }
        }
    }

    // MARK: Steps

    /// - Returns: true if the keys changed.
    private func scan() -> Bool {
        readiness.beginScan()
        defer { readiness.endScan() }
        guard keys.scan() else { return false }
        apply(isRequested: false)
        return true
    }

    private func reload() {
        readiness.beginScan()
        defer { readiness.endScan() }
        log.notice("reloading configuration and keys")
        do throws(ConfigurationError) {
            wanted = try readAndCheck()
            problems = ReloadRules.restartNotices(from: running, to: wanted)
            isRefused = false
            setLogLevel(wanted.logLevel)
        } catch {
            // Reread the keys anyway, for the configuration in force. Abandon a configuration that is waiting for its
            // keys, because the operator has since changed it.
            wanted = inForce
            problems = error.problems
            isRefused = true
        }
        keys = keys.reread(wanted.keys)
        apply(isRequested: true)
    }

    private func readAndCheck() throws(ConfigurationError) -> Configuration {
        let new = try readConfiguration()
        let refusals = ReloadRules.refusals(running: running, from: inForce, to: new)
        guard refusals.isEmpty else { throw ConfigurationError(problems: refusals) }
        return new
    }

    /// Plans the next key ring. If the ring is complete, puts it in force with the rest of the configuration.
    /// - Parameter isRequested: true if an operator requested the change and expects a log line about it.
    private func apply(isRequested: Bool) {
        let old = policy.snapshot.ring
        let plan = keys.plan(from: old, isRequested: isRequested && !isRefused)
        if plan.isComplete {
            policy.replace(with: Policy(plan.ring, wanted))
            if running.certificate != nil { certificate.replace(with: wanted.certificate) }
            inForce = wanted
            if isRequested, !isRefused { Self.warn(about: wanted, log) }
        }
        if isRequested || plan.isComplete { readiness.isNewestInForce = plan.isComplete && !isRefused }
        let isApplied = plan.isComplete && plan.keptKeys.isEmpty && !(isRequested && isRefused)
        observe(isApplied)
        readiness.report(problems, from: .configuration, to: log)
        readiness.report(inForce.callersProblems, from: .callers, level: .warning, to: log)
        readiness.report(plan.problems, from: .keys, to: log)
        if !plan.isComplete {
            log.warning("the previous keys stay in force", metadata: old.summary)
        } else if isRequested || plan.ring.summary != old.summary {
            log.notice("keys in force", metadata: plan.ring.summary)
        }
    }

    /// Changes the log level immediately, even if keys are missing. The operator may need the new level to find out
    /// why.
    private func setLogLevel(_ level: Logger.Level) {
        let old = logLevel.current
        guard level != old else { return }
        // Log the change while the more verbose of the two levels is set.
        if level < old { logLevel.current = level }
        log.notice("log level changed", metadata: ["from": "\(old)", "to": "\(level)"])
        logLevel.current = level
    }

    /// Precomputes tables that speed up verification, only for the keys that sign. These keys are already in use, so
    /// nothing waits for the tables.
    private func precomputeKeys() async {
        let ring = policy.snapshot.ring
        let ids = ring.keysToPrecompute
        ring.releasePrecomputation(except: ids)
        for id in ids where !Task.isCancelled {
            do {
                if try ring.precompute(id) { log.debug("key precomputed", metadata: ["keyID": "\(id)"]) }
            } catch {
                log.warning(
                    "a key could not be precomputed, so its signatures are verified more slowly",
                    metadata: ["keyID": "\(id)", "reason": "\(error)"])
            }
            await Task.yield()
        }
    }
}

extension Policy {
    fileprivate convenience init(_ ring: KeyRing, _ configuration: Configuration) {
        self.init(
            ring: ring, catalogue: configuration.catalogue, issuerIDs: configuration.issuerIDs,
            callers: configuration.callers, limits: configuration.limits, proxies: configuration.proxies,
            webOrigins: configuration.webOrigins)
    }
}

extension KeyRing {
    /// The ring as log metadata, without secrets: each key ID with the first 16 digits of its fingerprint.
    fileprivate var summary: Logger.Metadata {
        var metadata: Logger.Metadata = [:]
        for state in [KeyState.active, .standby, .retired] {
            let ids = keyIDs.filter { self.state(of: $0) == state }
            let named = ids.prefix(10).map { "\($0) (\(key($0)?.pair.fingerprint.prefix(16) ?? ""))\(apps(of: $0))" }
            let more = ids.count > 10 ? ["and \(ids.count - 10) more"] : []
            metadata[state.rawValue] = "\((named + more).joined(separator: ", "))"
        }
        return metadata
    }

    /// Returns a suffix that lists the apps for which this key is configured; empty if there are none.
    private func apps(of id: KeyID) -> String {
        let apps = choice.apps(of: id).map(\.text.description)
        guard !apps.isEmpty else { return "" }
        return
            " for \(apps.prefix(10).joined(separator: " and "))\(apps.count > 10 ? " and \(apps.count - 10) more" : "")"
    }
}
