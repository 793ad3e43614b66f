import Logging
import NIOConcurrencyHelpers
import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferKeys
import OfferTelemetry

/// The health of the active keys. It tracks keys that cannot sign at the moment, and takes bad keys out of service.
package final class KeyHealth: Sendable {
    /// A selection of keys to test.
    enum Selection: Sendable {
        case allActive
        /// The keys that could not sign or verify when they were last used.
        case unable
    }

    private let policy: CurrentPolicy
    private let metrics: ServiceMetrics
    private let log: Logger
    /// The fault of each key that could not sign or verify when it was last used.
    private let faults = NIOLockedValueBox<[KeyID: KeyFault]>([:])

    init(policy: CurrentPolicy, metrics: ServiceMetrics, log: Logger) {
        self.policy = policy
        self.metrics = metrics
        self.log = log
    }

    /// Returns true if each active key can sign.
    func isGood(under ring: KeyRing) -> Bool { ring.activeOutOfService.isEmpty && unable(under: ring).isEmpty }

    /// Returns a problem for each active key that is out of service, or could not sign or verify when it was last used.
    func problems(under ring: KeyRing) -> [Diagnostic] {
        let outOfService = ring.activeOutOfService.sorted().map { id in
            Diagnostic(
                "key \(id) is out of service, because it failed a test or made a bad signature",
                hint: ring.key(id)?.pair.threads == nil
                    ? "restart the service on another machine, and check this one's memory, processor and libcrypto"
                    : "check the token and its module, or sign with another key; a restart tries this one again")
        }
        let unable = unable(under: ring).filter { !ring.isOutOfService($0.id) }.map { id, fault in
            Diagnostic(
                "key \(id) \(fault.sentence)",
                hint: fault.tokenFault?.hint
                    ?? "it is tried again every second; if that does not help, restart the service on another machine")
        }
        return outOfService + unable
    }

    private func unable(under ring: KeyRing) -> [(id: KeyID, fault: KeyFault)] {
        let faults = faults.withLockedValue { $0 }
        guard !faults.isEmpty else { return [] }
        return ring.active.compactMap { id in faults[id].map { (id, $0) } }
    }

    // MARK: Reports

    /// Notes that a key could not sign or verify. Readiness fails until the key can.
    /// - Parameter onlyFirst: true to log only the first fault in a row. A lost token causes one with each request.
    func note(_ fault: KeyFault, of id: KeyID, onlyFirst: Bool = false, _ metadata: Logger.Metadata = [:]) {
        let isFirst = faults.withLockedValue { $0.updateValue(fault, forKey: id) } == nil
        guard isFirst || !onlyFirst else { return }
        log.error(
            fault.logMessage, metadata: metadata.merging(["keyID": "\(id)", "reason": "\(fault.error)"]) { $1 })
    }

    /// Notes that a key signed, so that an earlier fault is over.
    func noteSignature(of id: KeyID) {
        guard faults.withLockedValue({ $0.removeValue(forKey: id) }) != nil else { return }
        log.notice("the key signs again", metadata: ["keyID": "\(id)"])
    }

    /// Takes a key out of service until the process restarts, and raises the alarm.
    func takeOutOfService(_ id: KeyID, alarm: Logger.Message, _ metadata: Logger.Metadata) {
        policy.takeOutOfService(id)
        metrics.selfVerificationFailed(of: id)
        log.critical(alarm, metadata: metadata.merging(["keyID": "\(id)"]) { $1 })
    }

    // MARK: The test

    /// Tests keys one by one, and yields in between, because a thousand keys take half a second.
    func test(_ selection: Selection) async {
        let ring = policy.snapshot.ring
        let unable = Set(faults.withLockedValue { $0.keys })
        for id in ring.active where selection == .allActive || unable.contains(id) {
            guard let key = ring.key(id), !policy.snapshot.ring.isOutOfService(id) else { continue }
            if let result = await test(key.pair) { note(result, of: key) }
            await Task.yield()
        }
        // A key that is no longer active is not tested, so nothing is known about it.
        faults.withLockedValue { $0 = $0.filter { ring.state(of: $0.key) == .active } }
    }

    /// - Returns: nil if the key's threads had no time for the test.
    private func test(_ pair: any SigningKeyPair) async -> KeyTestResult? {
        do throws(SigningThreadsFault) {
            let result: Result<KeyTestResult, Never> = try await pair.whereItSigns {
                .success(pair.selfTest(signing: (0..<32).map { _ in .random(in: .min ... .max) }))
            }
            return result.get()
        } catch { return error == .noAnswer ? .unable(.cannotSign(error)) : nil }
    }

    private func note(_ result: KeyTestResult, of key: KeyRing.Key) {
        let id = key.id
        switch result {
        case .passed: noteSignature(of: id)
        case .unable(let fault):
            // Only the first failure is logged, because the key is tried again every second.
            guard faults.withLockedValue({ $0.updateValue(fault, forKey: id) }) == nil else { return }
            note(fault, of: id)
        case .failed(let reason):
            let alarm: Logger.Message =
                key.pair.threads == nil
                ? """
                ALARM: a key failed its self-test, and is out of service. Suspect memory, processor or libcrypto; restart on \
                another machine.
                """
                : """
                ALARM: a key in a token failed its self-test, and is out of service. Suspect the token, its module or \
                its server.
                """
            takeOutOfService(id, alarm: alarm, ["reason": "\(reason)"])
        }
    }
}

extension KeyFault {
    fileprivate var error: any Error {
        switch self {
        case .cannotSign(let error), .cannotVerify(let error): error
        }
    }

    /// The fault of a key in a token; nil for any other key.
    fileprivate var tokenFault: TokenFault? {
        error as? TokenFault ?? (error as? SigningThreadsFault).map(TokenFault.threads)
    }

    fileprivate var sentence: String {
        switch self {
        case .cannotSign(let error): "cannot sign (\(error))"
        case .cannotVerify(let error): "cannot verify its signatures (\(error))"
        }
    }

    fileprivate var logMessage: Logger.Message {
        switch self {
        case .cannotSign: "signing failed"
        case .cannotVerify: "verification failed"
        }
    }
}
