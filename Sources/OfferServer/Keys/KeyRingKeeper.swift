package import Logging
import NIOCore
import NIOPosix
package import OfferCore
import ServiceLifecycle
package import UnixSignals

/// Keeps the ring in force in step with the configuration and the folder of keys, for as long as the service runs.
///
/// A new ring is made aside, of keys that have been proven to sign, and takes the place of the old one as a whole. As
/// long as something that is wanted is missing or refused, the old ring stays, and the readiness says why.
package actor KeyRingKeeper: Service {
    private let places: KeyPlaces
    private let reloadSignals: UnixSignalsSequence
    private let readiness: Readiness
    private let metrics: ServiceMetrics
    private let log: Logger
    private let logLevel: LogLevel
    /// The certificate in force.
    package nonisolated let certificate: CurrentCertificate
    /// What was there at the start, and what is listened on, recorded in and how the log is written for that reason.
    private let listening: Configuration
    private var keys: ConfiguredKeys
    /// The configuration in force. That of ``keys`` is the one that is wanted, and comes into force when its keys are there.
    private var inForce: Configuration
    private var configurationProblems: [SetupProblem] = []
    /// Whether the last configuration that somebody wanted did not hold.
    private var isRefused = false

    /// The setup in force.
    package nonisolated let setup: CurrentSetup

    /// Each takes tens of milliseconds and 150 kB.
    private static let maximumPreparedKeys = 32

    // A thread of its own: a disk that hangs must hold up nothing else.
    private nonisolated let thread = MultiThreadedEventLoopGroup(numberOfThreads: 1).any()
    // Unsafe only if the thread could go before the keeper, which owns it.
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe thread.executor.asUnownedSerialExecutor()
    }

    /// - Parameters:
    ///   - reloadSignals: each asks for the configuration and the folder to be read again.
    ///   - logLevel: the one in force, which is changed here.
    /// - Throws: every problem, if the keys that are wanted are not all there.
    package init(
        configuration: Configuration, places: KeyPlaces, reloadSignals: UnixSignalsSequence, readiness: Readiness,
        metrics: ServiceMetrics, log: Logger, logLevel: LogLevel
    ) throws(ConfigurationError) {
        self.places = places
        self.reloadSignals = reloadSignals
        self.readiness = readiness
        self.metrics = metrics
        self.log = log
        self.logLevel = logLevel
        listening = configuration
        inForce = configuration
        keys = ConfiguredKeys(configuration, places: places)
        let draft = keys.draft(from: KeyRing())
        guard draft.isComplete else { throw ConfigurationError(problems: draft.problems) }
        setup = CurrentSetup(Setup(draft.ring, configuration))
        certificate = CurrentCertificate(configuration.certificate)
        log.notice("keys in force", metadata: draft.ring.summary)
        readiness.report(draft.problems, from: .keys, to: log)
    }

    /// Looks at the folder every second, and reads everything again at every signal, until the service stops.
    package func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                group.addTask {
                    await self.prepareKeys()
                    for await _ in self.reloadSignals {
                        await self.reload()
                        await self.prepareKeys()
                    }
                }
                group.addTask {
                    while (try? await Task.sleep(for: .seconds(1))) != nil {
                        if await self.look() { await self.prepareKeys() }
                    }
                }
            }
        }
    }

    /// - Returns: whether something has changed.
    private func look() -> Bool {
        readiness.beginLook()
        defer { readiness.endLook() }
        guard keys.look() else { return false }
        update(isAsked: false)
        return true
    }

    private func reload() {
        readiness.beginLook()
        defer { readiness.endLook() }
        log.notice("reading the configuration and the keys again")
        isRefused = false
        do throws(ConfigurationError) {
            let configuration = try places.readConfiguration()
            try requireNoLooser(configuration)
            setLogLevel(configuration.logLevel)
            configurationProblems = problems(ofStartAsIn: configuration)
            keys = keys.reread(under: configuration, places: places)
        } catch {
            // The keys are looked at all the same. One that was wanted before, and whose keys were not there, is wanted no
            // more: somebody has changed it since.
            isRefused = true
            configurationProblems = error.problems
            keys = keys.reread(under: inForce, places: places)
        }
        update(isAsked: true)
    }

    /// At once, and not together with keys that may be missing: that they are may be why somebody wants to read more.
    private func setLogLevel(_ level: Logger.Level) {
        let old = logLevel.current
        guard level != old else { return }
        // Said at the more talkative of the two.
        if level < old { logLevel.current = level }
        log.notice("another level of the log", metadata: ["from": "\(old)", "to": "\(level)"])
        logLevel.current = level
    }

    /// - Parameter isAsked: whether somebody has asked for it, and waits for an answer in the log.
    private func update(isAsked: Bool) {
        let old = setup.snapshot.ring
        let draft = keys.draft(from: old)
        // Keys, catalogue, callers and certificate of one configuration come into force together, or none of them.
        if draft.isComplete {
            setup.replace(with: Setup(draft.ring, keys.configuration))
            if listening.certificate != nil { certificate.replace(with: keys.configuration.certificate) }
            inForce = keys.configuration
        }
        if isAsked || draft.isComplete { readiness.isNewestInForce = draft.isComplete && !isRefused }
        metrics.reloaded(draft.isComplete && !(isAsked && isRefused) ? .applied : .refused)
        readiness.report(configurationProblems, from: .configuration, to: log)
        readiness.report(draft.problems, from: .keys, to: log)
        if !draft.isComplete {
            log.warning("the keys that are in force stay", metadata: old.summary)
        } else if isAsked || draft.ring.summary != old.summary {
            log.notice("keys in force", metadata: draft.ring.summary)
        }
    }

    /// Has keys that sign work as fast as they can, and no others. They sign already, and nothing waits for it.
    private func prepareKeys() async {
        let ring = setup.snapshot.ring
        let first = ring.choice.ofAllApps
        let ids = ((first.map { [$0] } ?? []) + ring.active.filter { $0 != first }).prefix(Self.maximumPreparedKeys)
        for id in ring.keyIDs where !ids.contains(id) { ring.key(id)?.pair.unprepare() }
        for id in ids where !Task.isCancelled {
            do {
                if try ring.key(id)?.pair.prepare() == true { log.debug("key prepared", metadata: ["keyID": "\(id)"]) }
            } catch {
                log.warning(
                    "a key works more slowly than it could", metadata: ["keyID": "\(id)", "reason": "\(error)"])
            }
            await Task.yield()
        }
    }

    /// A slip in a file must not open a running service to everybody, or to every offer, nor make another customer of every
    /// user.
    private func requireNoLooser(_ new: Configuration) throws(ConfigurationError) {
        let old = setup.snapshot
        var problems: [SetupProblem] = []
        if !old.callers.isEmpty, new.callers.isEmpty {
            problems.append(
                SetupProblem(
                    "the configuration names no caller any more, and anyone could ask",
                    hint: "name one; to serve without callers takes a restart"))
        }
        if old.catalogue != nil, new.catalogue == nil {
            problems.append(
                SetupProblem(
                    "the configuration names no apps any more, and any offer would be signed",
                    hint: "name them; to serve without a catalogue takes a restart"))
        }
        if listening.certificate != nil, new.certificate == nil {
            problems.append(
                SetupProblem(
                    "the configuration names no certificate any more, and tokens could be read on the way",
                    hint: "name one; to serve without TLS takes a restart"))
        }
        if !LoopbackAddress.isLoopback(listening.host), LoopbackAddress.isLoopback(new.host) {
            problems.append(
                SetupProblem(
                    "the configuration is for this machine alone, and the service listens on \(listening.host)",
                    hint: "set \(Variable.host.rawValue) as it was; to listen elsewhere takes a restart"))
        }
        problems += old.callers.problems(withCustomersIn: new.callers)
        guard problems.isEmpty else { throw ConfigurationError(problems: problems) }
    }

    /// What in `new` only a start can bring about.
    private func problems(ofStartAsIn new: Configuration) -> [SetupProblem] {
        let isSame =
            (new.host, new.port, new.metricsAddress, new.sharesPort, new.certificate == nil)
            == (
                listening.host, listening.port, listening.metricsAddress, listening.sharesPort,
                certificate.context == nil
            )
        var problems: [SetupProblem] = []
        if !isSame {
            problems.append(
                SetupProblem(
                    "the configuration says to listen elsewhere, or otherwise, than the service does",
                    hint: "that takes a restart"))
        }
        if new.audit != listening.audit {
            problems.append(
                SetupProblem(
                    "the configuration says to keep the audit trail elsewhere, or otherwise, than the service does",
                    hint: "that takes a restart"))
        }
        if new.logFormat != listening.logFormat {
            problems.append(
                SetupProblem(
                    "the configuration says another format of the log than the service writes",
                    hint: "that takes a restart"))
        }
        return problems
    }
}

extension Setup {
    fileprivate convenience init(_ ring: KeyRing, _ configuration: Configuration) {
        self.init(
            ring: ring, catalogue: configuration.catalogue, issuerIDs: configuration.issuerIDs,
            callers: configuration.callers, limits: configuration.limits, proxies: configuration.proxies)
    }
}

extension Callers {
    /// What in `new` would make other customers of the users who are here already: what they have bought would not be
    /// theirs any more.
    fileprivate func problems(withCustomersIn new: Callers) -> [SetupProblem] {
        let both = userIssuers.compactMap { old in
            new.userIssuers.first { $0.issuer == old.issuer }.map { (old: old, new: $0) }
        }
        var problems = both.filter { $0.old.customer != $0.new.customer }.map {
            SetupProblem(
                "the configuration makes other customers of the users of \($0.old.name), by another claim",
                hint: "name the claim as it was; to change it takes a restart")
        }
        let isHashed = both.contains {
            if case (.hashedUsername, .hashedUsername) = ($0.old.customer, $0.new.customer) { true } else { false }
        }
        if isHashed, usernameSalt?.reveal != new.usernameSalt?.reveal {
            problems.append(
                SetupProblem(
                    "\(Variable.usernameSalt.rawValue) is another, and every user would be another customer",
                    hint: "set it as it was; to change it takes a restart"))
        }
        return problems
    }
}

extension KeyRing {
    /// What an operator wants to know of it, without any secret: each key with the beginning of its fingerprint.
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

    /// Behind the name of a key: the apps that have it for their own.
    private func apps(of id: KeyID) -> String {
        let apps = choice.apps(of: id).map(\.text.description)
        guard !apps.isEmpty else { return "" }
        return
            " for \(apps.prefix(10).joined(separator: " and "))\(apps.count > 10 ? " and \(apps.count - 10) more" : "")"
    }
}
