import AppStoreData
import FoundationEssentials
package import Logging
import OfferAudit
package import OfferConfiguration
package import OfferCore
import OfferEligibility
import OfferTelemetry
package import SubscriberStore

extension AppStoreSync {
    /// Runs `work` with a connection to the App Store, outside the service but with the same checks.
    /// - Parameters:
    ///   - settings: the App Store API settings of `configuration`.
    ///   - ring: the keys that sign tokens.
    ///   - store: nil if `work` needs no store.
    package static func run<Output: Sendable>(
        _ settings: AppStoreAPISettings, _ configuration: Configuration, ring: KeyRing, store: (any SubscriberStore)?,
        log: Logger, _ work: @Sendable (AppStoreSync) async throws -> Output
    ) async throws -> Output {
        let metrics = SyncMetrics(MetricRegistry())
        let now: @Sendable () -> Timestamp = { Timestamp(Date()) }
        let ocspClient = configuration.appStore.usesOCSP ? OCSPClient() : nil
        let trust = AppStoreTrust(
            configuration.appStore, transport: ocspClient?.transport, now: now, metrics: metrics, log: log)
        let trail = try await AuditTrail.open(
            configuration.audit, now: now, readiness: Readiness(), metrics: .unregistered, log: log)
        let policy = Policy(ring: ring, catalogue: configuration.catalogue, issuerIDs: configuration.issuerIDs)
        let asking = try AppStoreSync(
            settings, policy: CurrentPolicy(policy), trust: trust,
            store: CurrentStore(configuration.store, store: store, log: log), trail: trail, now: now,
            readiness: Readiness(), metrics: metrics, log: log)
        let result: Result<Output, any Error> = await withTaskGroup(of: Void.self) { group in
            if let checker = trust.checker { group.addTask { await checker.run() } }
            defer { group.cancelAll() }
            do { return .success(try await work(asking)) } catch { return .failure(error) }
        }
        await asking.close()
        await ocspClient?.close()
        return try result.get()
    }
}
