import AppStoreAPI
import AppStoreData
import AppStoreStandIn
import AppStoreTestSupport
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import OfferCore
import OfferCrypto
import OfferEligibility
import OfferHTTP
import OfferTelemetry
import StoreTestSupport
import SubscriberStore
import TestSupport

@testable import OfferConfiguration
@testable import OfferService
@testable import SubscriberSync

/// The service and a stand-in for the App Store on one clock, which a test moves.
final class SimulatedService: Sendable {
    /// What ends when the service is stopped.
    private struct Running: Sendable {
        let routes: TestService
        let store: SQLiteStore
        let asking: AppStoreSync
        let recovery: RecoveryWorker
        let poller: PollingWorker
        let readiness: Readiness
        let policy: CurrentPolicy
    }

    static let scopes = [Sample.production, Sample.sandbox]

    let standIn: AppStoreStandIn
    private let clock: NIOLockedValueBox<Int64>
    /// What signs tokens.
    let pair: SigningKey
    private let folder: TemporaryFolder
    /// Whether the service has another app, too.
    private let hasOtherApp: Bool
    private let running = NIOLockedValueBox<Running?>(nil)

    /// - Parameters:
    ///   - customers: in production; the sandbox has a tenth as many.
    ///   - posting: how notifications get lost.
    init(customers: Int, posting: Poster.Settings, hasOtherApp: Bool = false) async throws {
        folder = try TemporaryFolder()
        self.hasOtherApp = hasOtherApp
        pair = try Fixtures.makeSigningKey()
        let clock = NIOLockedValueBox(Int64(Date().timeIntervalSince1970 * 1000))
        self.clock = clock
        var settings = AppStoreStandIn.Settings { clock.withLockedValue { $0 } }
        settings.production.customers = customers
        settings.sandbox.customers = max(1, customers / 10)
        // One of the rates that App Store Connect offers for the sandbox. Billing retry then ends after two hours.
        settings.sandbox.clock = WorldClock(month: 3_600_000)
        settings.keys = [try Fixtures.keyID().description: pair]
        settings.posting = posting
        settings.posting.receiver = .function { [running] body in
            await running.withLockedValue { $0 }?.routes.postLater("/v1/app-store-notifications", body).status
        }
        standIn = try await AppStoreStandIn(settings, folder: folder.path)
    }

    var now: Timestamp { Timestamp(milliseconds: clock.withLockedValue { $0 }) }

    // MARK: Life

    /// - Parameters:
    ///   - wait: how long a request waits for the App Store.
    ///   - isFast: whether time limits run on the clock that the test moves.
    func start(wait: Duration = .milliseconds(800), isFast: Bool = true) throws {
        let policy = try policy(pair, Fixtures.keyID())
        let policies = CurrentPolicy(policy)
        let settings = SQLiteSettings(path: folder.path + "/store.sqlite")
        let store = try SQLiteStore(settings)
        let log = RecordedLog().logger
        let current = CurrentStore(
            StoreSettings(location: .sqlite(path: settings.path)), store: store, log: log)
        let roots = try Self.certificates(standIn.dataRootPath)
        let routes = try TestService(
            pair: pair, catalogue: policy.catalogue, appStore: AppStoreSettings(roots: TrustedRoots(roots)),
            store: current)
        let now: @Sendable () -> Timestamp = { [clock] in Timestamp(milliseconds: clock.withLockedValue { $0 }) }
        routes.setTime(now())
        guard let trust = routes.trust else { throw CocoaError(.coderInvalidValue) }
        let uptime: @Sendable () -> NIODeadline = {
            isFast ? .uptimeNanoseconds(UInt64(now().milliseconds) * 1_000_000) : .now()
        }
        let readiness = Readiness()
        let asking = try AppStoreSync(
            AppStoreAPISettings(
                hosts: APIHosts(production: standIn.productionURL, sandbox: standIn.sandboxURL),
                roots: Self.certificates(standIn.tls.rootPath), wait: wait),
            policy: policies, trust: trust, store: current, trail: nil, now: now, uptime: uptime,
            readiness: readiness, metrics: routes.metrics.sync, log: log)
        let problems = SyncProblems(readiness: readiness, now: now, log: log)
        let recovery = RecoveryWorker(
            asking.recovery, store: current, policy: { policies.snapshot }, now: now, problems: problems, log: log)
        let poller = PollingWorker(
            asking.refresh, store: current, policy: { policies.snapshot }, now: now, problems: problems, log: log)
        running.withLockedValue {
            $0 = Running(
                routes: routes, store: store, asking: asking, recovery: recovery, poller: poller, readiness: readiness,
                policy: policies)
        }
    }

    func stop() async throws {
        let stopped = running.withLockedValue { running in
            defer { running = nil }
            return running
        }
        await stopped?.asking.close()
        try stopped?.store.close()
    }

    /// Stops the service and the stand-in.
    func end() async throws {
        try await stop()
        await standIn.stop()
    }

    /// Puts a new key in force while the service runs. The App Store no longer accepts the old one.
    func rotateKey() throws {
        let (id, pair) = (try KeyID(utf8: Array("SECONDKEY2".utf8)), try Fixtures.makeSigningKey())
        try running.withLockedValue { $0 }?.policy.replace(with: policy(pair, id))
        standIn.tokens.replace(keys: [id.description: pair])
    }

    private func policy(_ pair: SigningKey, _ id: KeyID) throws -> Policy {
        var apps = [Sample.bundleID: Catalogue.App(appAppleID: 1_234_567_890, offers: [:])]
        if hasOtherApp {
            apps[try BundleID(utf8: Array("com.example.other".utf8))] = Catalogue.App(appAppleID: 1, offers: [:])
        }
        return Policy(
            ring: KeyRing(active: KeyRing.Key(id: id, pair: pair)),
            catalogue: Catalogue(apps: apps),
            issuerIDs: IssuerIDs(ofAllApps: try Fixtures.issuerID()))
    }

    private static func certificates(_ path: String) throws -> [X509Certificate] {
        try X509Certificate.readAll([UInt8](Data(contentsOf: URL(filePath: path))))
    }

    // MARK: Time

    /// Moves the clock, lets the App Store post what is due, and makes the service do what it does in that time.
    /// - Parameters:
    ///   - customersLive: whether anything happens to customers.
    ///   - recovers: whether the service reads the notification history when it is due.
    func pass(_ seconds: Int64, customersLive: Bool = true, recovers: Bool = true) async {
        let now = clock.withLockedValue { clock in
            clock += seconds * 1000
            return Timestamp(milliseconds: clock)
        }
        running.withLockedValue { $0 }?.routes.setTime(now)
        if customersLive { await standIn.advance() } else { for poster in standIn.posters { await poster.post() } }
        guard let running = running.withLockedValue({ $0 }) else { return }
        for scope in Self.scopes {
            if recovers { await running.recovery.recover(scope) }
            var second = 0
            while second < seconds, await running.poller.poll(scope) > 0 { second += 1 }
        }
    }

    // MARK: Recovery

    /// Reads the notifications of the last 180 days that the App Store could not deliver.
    func recoverFailures(in scope: AppScope) async throws -> NotificationRecovery.Counts? {
        try await running.withLockedValue { $0 }?.asking.recovery.run(of: scope, from: .min, onlyFailures: true)
    }

    /// The notifications that are stored, and the time up to which the whole history has been read.
    func received(in scope: AppScope) async throws -> (notifications: Int, checkpoint: Timestamp?) {
        guard let store = running.withLockedValue({ $0?.store }) else { return (0, nil) }
        let intake = try await store.intakes().first { $0.app == scope }
        return (intake?.notifications ?? 0, try await store.recoveryCheckpoint(of: scope))
    }

    // MARK: One part of the service

    /// Moves the clock, and nothing else happens.
    func wait(_ duration: Duration) { clock.withLockedValue { $0 += Int64(duration / .milliseconds(1)) } }

    func poll(_ scope: AppScope) async -> Int { await running.withLockedValue { $0 }?.poller.poll(scope) ?? 0 }

    func recover(_ scope: AppScope) async { await running.withLockedValue { $0 }?.recovery.recover(scope) }

    /// Reads the notification history as `offer-signer app-store recover` does.
    func recover(_ scope: AppScope, since start: Timestamp) async throws {
        _ = try await running.withLockedValue { $0 }?.asking.recovery.run(of: scope, from: start)
    }

    /// What asks about customers while requests wait. It does so while it runs.
    var refresher: RefreshQueue? { running.withLockedValue { $0?.asking.refresher } }

    /// What health says about questions to the App Store.
    var problems: [Diagnostic] { running.withLockedValue { $0 }?.readiness.problems ?? [] }

    /// The store while the service runs.
    func withStore<Result>(_ body: (any SubscriberStore) async throws -> Result) async throws -> Result {
        guard let store = running.withLockedValue({ $0?.store }) else { throw CocoaError(.coderInvalidValue) }
        return try await body(store)
    }

    // MARK: What is known

    /// What the service knows of a subscription.
    func subscription(
        _ original: String, in scope: AppScope, at now: Timestamp
    ) async throws -> Subscription? {
        let facts = try await facts(original, in: scope)
        let state = SubscriberState(of: SubscriberFacts(facts), environment: scope.environment, at: now)
        return state.subscriptions.first { $0.originalTransactionID.text.description == original }
    }

    /// The same in the words of the stand-in.
    func known(_ original: String, in scope: AppScope, at now: Timestamp) async throws -> StandInWorld.Truth? {
        guard let subscription = try await subscription(original, in: scope, at: now) else { return nil }
        let transactions = try await facts(original, in: scope).filter {
            $0.originalTransactionID == subscription.originalTransactionID && $0.key.kind == .transaction
        }
        var known = StandInWorld.Truth(
            transactionID: subscription.transactionID.text.description,
            productID: subscription.productID.text.description, status: Self.number(of: subscription.status),
            autoRenews: subscription.autoRenews, transactions: transactions.count)
        for fact in transactions {
            guard case .transaction(let purchase) = fact.value else { continue }
            let id = fact.key.id.text.description
            if purchase.revocation != nil { known.refunded.insert(id) }
            if purchase.offer?.type == .promotional { known.redeemed.insert(id) }
            known.accounts[id] = purchase.appAccountToken.map { "\($0)" }
        }
        return known
    }

    private func facts(_ original: String, in scope: AppScope) async throws -> [SubscriberFact] {
        guard let store = running.withLockedValue({ $0?.store }) else { return [] }
        return try await store.customers(
            known: .originalTransactionID(Sample.id(original)), bundleID: scope.bundleID, environment: scope.environment
        ).flatMap(\.facts)
    }

    private static func number(of status: Subscription.Status) -> Int {
        switch status {
        case .active: 1
        case .expired: 2
        case .billingRetry: 3
        case .billingGracePeriod: 4
        case .revoked: 5
        }
    }
}
