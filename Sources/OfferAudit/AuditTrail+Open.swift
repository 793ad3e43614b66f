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
            let keys = try AuditKeys(of: settings)
            return try await AuditTrail(
                store: AuditFile(settings, keys, now: now), codes: keys.codes(settings.addresses), now: now,
                readiness: readiness, metrics: metrics, log: log, about: [("customerKey", keys.id)])
        } catch {
            throw ConfigurationError(problems: [AuditFault(error).problem])
        }
    }
}

extension AuditFile {
    /// Creates an `AuditFile` from the settings, without opening it.
    package static func make(
        _ settings: AuditSettings, now: @escaping @Sendable () -> Timestamp
    ) throws(OpenSSLError) -> AuditFile {
        AuditFile(settings, try AuditKeys(of: settings), now: now)
    }

    fileprivate convenience init(_ settings: AuditSettings, _ keys: AuditKeys, now: @escaping @Sendable () -> Timestamp)
    {
        self.init(
            path: settings.path, isSynced: settings.isSynced, rotatesAtBytes: settings.rotatesAtBytes,
            seal: settings.chain == .hmac ? .hmac(keys.chain) : .hash, key: settings.key.map { _ in keys.chain },
            now: now)
    }
}

extension AuditKeys {
    /// Derives the keys from the audit key, or from a random secret if none is configured.
    fileprivate init(of settings: AuditSettings) throws(OpenSSLError) {
        if let key = settings.key { try self.init(Array(key.reveal.utf8)) } else { try self.init(RandomSecret.make()) }
    }
}

extension AuditSettings {
    /// The rules for the lines of other processes.
    package var rules: AuditRules {
        get throws(OpenSSLError) {
            guard let key else { return AuditRules() }
            return AuditRules(key: try Self.chainKey(key), needsKey: chain == .hmac)
        }
    }
}
