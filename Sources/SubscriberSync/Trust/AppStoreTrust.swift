package import AppStoreData
package import Logging
package import OfferConfiguration
package import OfferCore
import OfferCrypto
import OfferEligibility

/// The rules for accepting App Store data: the trusted signers and the revoked certificates.
package struct AppStoreTrust: Sendable {
    package let verifier: AppStoreVerifier
    /// nil if OCSP responders are not queried.
    package let checker: OCSPChecker?
    private let metrics: SyncMetrics
    private let now: @Sendable () -> Timestamp
    private let log: Logger

    /// - Parameter transport: sends requests to OCSP responders; nil if none are queried.
    package init(
        _ settings: AppStoreSettings, transport: OCSPTransport? = nil, now: @escaping @Sendable () -> Timestamp,
        metrics: SyncMetrics, log: Logger
    ) {
        let verifier = AppStoreVerifier(
            roots: settings.ownRoots ?? .apple, isDevelopment: settings.isDevelopment)
        self.verifier = verifier
        self.metrics = metrics
        self.now = now
        self.log = log
        checker = transport.map { transport in
            OCSPChecker(transport: transport, now: { now().milliseconds / 1000 }) { certificate in
                verifier.knownChains.revoke(certificate.identity)
                log.critical(
                    "ALARM: Apple has revoked a certificate of App Store data; data signed with it is refused from now on",
                    metadata: ["certificate": "\(certificate.subject)"])
            }
        }
    }

    /// Verifies a JWS without waiting for OCSP responders.
    package func verify<Payload: SignedPayload>(
        _ text: [UInt8], at date: EffectiveDate
    ) throws(DataRefusal) -> VerifiedData<Payload> {
        let data: VerifiedData<Payload> = try verifier.verify(text, at: date)
        try refuseRevoked(data.chain)
        return data
    }

    /// Verifies a receipt without waiting for OCSP responders.
    package func verifyReceipt(
        _ receipt: [UInt8], at time: Timestamp, device: DeviceIdentifier?
    ) throws(DataRefusal) -> VerifiedReceipt {
        let verified = try verifier.verifyReceipt(receipt, at: time, device: device)
        try refuseRevoked(verified.chain)
        return verified
    }

    /// Waits until every certificate of a chain is known not to be revoked.
    /// - Throws: a refusal, if a certificate is revoked, or if no responder confirms its status now.
    func requireGood(_ chain: some CertificatePath) async throws(DataRefusal) {
        do { try await checker?.check(chain) } catch { throw DataRefusal(VerificationFailure(error)) }
    }

    /// Refuses a chain that is known to be revoked or that its responder does not know. Otherwise, responders are
    /// queried in the background.
    private func refuseRevoked(_ chain: some CertificatePath) throws(DataRefusal) {
        switch checker?.cachedStatus(chain) {
        case .revoked(let failure), .notKnown(let failure):
            if failure.isDenied { throw DataRefusal(VerificationFailure(failure)) }
        case .good, nil: break
        }
    }

    package func noteVerified(_ kind: String) { metrics.appStoreData(kind, .verified) }

    package func noteRefused(_ kind: String, _ refusal: DataRefusal) {
        metrics.appStoreData(kind, .refused)
        metrics.appStoreDataRefused(refusal.code)
    }

    /// Counts and logs an omitted entry of an answer. The other entries still count.
    func noteLeftOut(_ refusal: DataRefusal, of app: AppScope) {
        noteRefused(PayloadKind.transaction.rawValue, refusal)
        log.warning(
            "omitted an entry of the App Store's answer",
            metadata: ["app": "\(app.bundleID.text)", "reason": "\(refusal)"])
    }
}
