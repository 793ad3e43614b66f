package import Logging
package import OfferCore
import OfferCrypto
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
        let file = AuditFile(
            path: settings.path, isSynced: settings.isSynced, rotatesAtBytes: settings.rotatesAtBytes, now: now)
        let waiting = Task {
            try await Task.sleep(for: .seconds(1))
            log.warning(
                "waiting for the audit trail",
                metadata: ["path": "\(settings.path)", "hint": "check its disk, and which process has locked it"])
        }
        defer { waiting.cancel() }
        do {
            let key = try settings.key.map { Array($0.reveal.utf8) } ?? RandomSecret.make()
            if settings.key == nil {
                let noKey = AuditSettings.noKey
                log.notice("\(noKey.error)", metadata: ["hint": "\(noKey.hint)"])
            }
            let customers = try HMACSHA256Key(key)
            return try await AuditTrail(
                store: file, customerCode: customers.code(of:), now: now, readiness: readiness, metrics: metrics,
                log: log,
                // Identifies the key without revealing it.
                about: [("customerKey", Hexadecimal.text(of: Array(try SHA256.hash(key).prefix(8))))])
        } catch {
            throw ConfigurationError(problems: [AuditFault(error).problem])
        }
    }
}
