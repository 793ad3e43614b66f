package import AppStoreAPI
package import AppStoreData
package import Logging
package import NIOCore
package import OfferAudit
package import OfferConfiguration
package import OfferCore
package import OfferEligibility
import OfferHTTP
package import OfferTelemetry
import OutgoingHTTP
package import ServiceLifecycle

/// The parts of the service that send requests to the App Store, wired together. `serve` and the commands under
/// `app-store` use the same wiring.
package struct AppStoreSync: Sendable {
    package let client: AppStoreClient
    package let refresh: SubscriptionFetch
    package let recovery: NotificationRecovery
    package let refresher: RefreshQueue
    private let transport: OutgoingClient
    private let trust: AppStoreTrust
    private let store: CurrentStore
    private let policy: @Sendable () -> Policy
    private let now: @Sendable () -> Timestamp
    private let problems: SyncProblems
    private let metrics: SyncMetrics
    private let log: Logger

    /// - Parameters:
    ///   - trail: records each token before it is sent; nil if there is no audit trail.
    ///   - readiness: receives reports of failures.
    /// - Throws: a problem for the operator, if a certificate cannot be used.
    package init(
        _ settings: AppStoreAPISettings, policy: CurrentPolicy, trust: AppStoreTrust, store: CurrentStore,
        trail: AuditTrail?, now: @escaping @Sendable () -> Timestamp,
        uptime: @escaping @Sendable () -> NIODeadline = { .now() }, readiness: Readiness, metrics: SyncMetrics,
        log: Logger
    ) throws(Diagnostic) {
        let policy: @Sendable () -> Policy = { policy.snapshot }
        transport = try settings.makeClient()
        let tokens = TokenSource(credentials: { policy().tokenCredentials }, now: now) { token in
            await token.isRecorded(in: trail, at: now())
        }
        client = AppStoreClient(
            hosts: settings.hosts, tokens: tokens, transport: transport,
            pacing: Pacing(now: now, uptime: uptime), observe: metrics.asked)
        refresh = SubscriptionFetch(client: client, trust: trust, store: store, policy: policy, now: now)
        let intake = NotificationIntake(store: store, trust: trust, now: now, log: log)
        recovery = NotificationRecovery(
            client: client, intake: intake, store: store, policy: policy, now: now, metrics: metrics, log: log)
        let receipts = ReceiptServiceClient(
            hosts: settings.receiptHosts, transport: transport, pacing: Pacing(now: now, uptime: uptime),
            observe: metrics.asked)
        problems = SyncProblems(readiness: readiness, now: now, log: log)
        refresher = RefreshQueue(
            refresh, receipts: ReceiptFetch(client: receipts, store: store, policy: policy), patience: settings.wait,
            problems: problems, log: log)
        self.trust = trust
        self.store = store
        self.policy = policy
        self.now = now
        self.metrics = metrics
        self.log = log
    }

    /// Returns the payload of a JWS in an answer, as signed, after verifying that Apple signed it for the app.
    package func payload<Payload: SignedPayload>(
        _: Payload.Type, of text: [UInt8], about app: AppScope
    ) throws(SyncError) -> [UInt8] {
        do throws(DataRefusal) {
            return try SignedAnswerReader(trust, for: app, under: policy(), at: now()).payload(Payload.self, of: text)
        } catch { throw .data(error) }
    }

    /// The background work, in start order.
    package var services: [any Service] {
        [
            TransportCloser(transport: transport), refresher,
            RecoveryWorker(recovery, store: store, policy: policy, now: now, problems: problems, log: log),
            PollingWorker(refresh, store: store, policy: policy, now: now, problems: problems, log: log),
            SyncMonitor(store: store, policy: policy, now: now, metrics: metrics),
        ]
    }

    /// Closes all connections. Call it after the last request.
    package func close() async { await transport.close() }
}

/// The service that closes the connections after all their users have stopped. It starts first, because services stop
/// in reverse order.
private struct TransportCloser: Service {
    let transport: OutgoingClient

    func run() async throws {
        try? await gracefulShutdown()
        await transport.close()
    }
}

extension UnsignedAPIToken {
    /// Records the token in the audit trail, because the key that signs it also signs offers.
    /// - Returns: true if the token may be used.
    fileprivate func isRecorded(in trail: AuditTrail?, at time: Timestamp) async -> Bool {
        guard let trail else { return true }
        let entry = AuditEntry(
            time: time, requestID: RequestContext().id.text, client: AuditEntry.Client(name: "-"),
            kind: .appStoreAPIToken, item: CatalogueItem(app: bundleID), customer: nil, outcome: .signedToken(keyID))
        return await trail.add([entry])?.isDurable() ?? false
    }
}
