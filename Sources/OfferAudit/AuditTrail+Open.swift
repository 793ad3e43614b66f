package import Logging
package import OfferCore
package import OfferCrypto
package import OfferTelemetry

extension AuditTrail {
    /// Opens the configured audit trail.
    /// - Returns: nil if none is configured.
    /// - Throws: a fault that an operator has to fix.
    package static func open(
        _ settings: AuditSettings?, now: @escaping @Sendable () -> Timestamp, readiness: Readiness,
        metrics: AuditMetrics, log: Logger
    ) async throws(ConfigurationError) -> AuditTrail? {
        guard let settings else { return nil }
        let waiting = Task {
            try await Task.sleep(for: .seconds(1))
            log.warning(
                "waiting for the audit trail",
                metadata: ["path": "\(settings.path)", "hint": "check its disk, and which process has locked it"])
        }
        defer { waiting.cancel() }
        do {
            if settings.key == nil {
                let noKey = AuditSettings.noKey
                log.notice("\(noKey.error)", metadata: ["hint": "\(noKey.hint)"])
            }
            let keys = try AuditKeys(settings.key.map { Array($0.reveal.utf8) } ?? RandomSecret.make())
            return try await AuditTrail(
                store: AuditFile(settings, keys, now: now), codes: keys.codes(settings.addresses), now: now,
                readiness: readiness, metrics: metrics, log: log, about: [("customerKey", keys.id)])
        } catch {
            throw ConfigurationError(problems: [AuditFault(error).problem])
        }
    }
}

extension AuditFile {
    /// Makes the file that the settings describe, without opening it.
    package static func make(
        _ settings: AuditSettings, now: @escaping @Sendable () -> Timestamp
    ) throws(OpenSSLError) -> AuditFile {
        let secret: [UInt8]
        if let key = settings.key { secret = Array(key.reveal.utf8) } else { secret = try RandomSecret.make() }
        return AuditFile(settings, try AuditKeys(secret), now: now)
    }

    fileprivate convenience init(_ settings: AuditSettings, _ keys: AuditKeys, now: @escaping @Sendable () -> Timestamp)
    {
        self.init(
            path: settings.path, isSynced: settings.isSynced, rotatesAtBytes: settings.rotatesAtBytes,
            seal: settings.chain == .hmac ? .hmac(keys.chain) : .hash, key: settings.key.map { _ in keys.chain },
            now: now)
    }
}
