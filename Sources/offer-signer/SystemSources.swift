import CProcess
import FoundationEssentials
import Logging
import OfferCore
import OfferCrypto
import OfferServer
import OfferStorage

/// The real time and the real randomness; tests bring their own.
enum SystemSources {
    static func now() -> Timestamp { Timestamp(Date()) }

    /// - Parameter userKeys: the key sets of identity providers; nil where there are none.
    static func authenticator(userKeys: CurrentUserKeys?, limiter: Limiter) -> Authenticator {
        let users = userKeys.map { UserAuthenticator(keys: $0, hmacSHA256: HMACSHA256.code(of:under:)) }
        return Authenticator(sha256: SHA256.hash, now: now, users: users, limiter: limiter)
    }

    /// - Parameter settings: nil where no trail is kept.
    /// - Throws: what somebody has to set right.
    static func auditTrail(
        _ settings: AuditSettings?, readiness: Readiness, metrics: ServiceMetrics, log: Logger
    ) async throws(ConfigurationError) -> AuditTrail? {
        guard let settings else { return nil }
        let file = AuditFile(
            path: settings.path, isSynced: settings.isSynced, rotatesAtBytes: settings.rotatesAtBytes,
            sha256: SHA256.hash(_:_:), now: now)
        let waiting = Task {
            try await Task.sleep(for: .seconds(1))
            log.warning(
                "waiting for the audit trail",
                metadata: ["path": "\(settings.path)", "hint": "see who holds a lock on it, or what its disk does"])
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
                store: file, code: customers.code(of:), sha256: SHA256.hash(_:_:), now: now,
                readiness: readiness, metrics: metrics, log: log,
                // Tells one key from another, and nothing of either.
                about: [("customerKey", Hexadecimal.text(of: Array(try SHA256.hash(key).prefix(8))))])
        } catch let fault as AuditFault {
            throw ConfigurationError(problems: [fault.problem])
        } catch {
            throw ConfigurationError(problems: [AuditFault("\(error)").problem])
        }
    }

    /// - Throws: what is wrong with the cryptography.
    static func selfTest() throws(ConfigurationError) -> SelfTest { try SelfTest(knownAnswers) }

    static let knownAnswers = KnownAnswers(
        verify: { try VerifyingKey(der: $2).verify($0, of: $1) }, sha256: SHA256.hash,
        hmacSHA256: HMACSHA256.code(of:under:), makeNonce: makeNonce, makeSecret: RandomSecret.make,
        library: "libcrypto \(OpenSSLVersion.text)")

    static let clock = ClockCheck(buildDay: unsafe String(cString: offer_build_day()))

    static func makeNonce() -> Nonce {
        var random = SystemRandomNumbers()
        return Nonce(using: &random)
    }
}
