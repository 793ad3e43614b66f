package import Logging
package import OfferConfiguration
package import OfferCore
package import OfferEligibility
package import OfferTelemetry
import ServiceLifecycle
package import SubscriberStore

/// The background work for the ledger: counting redemptions, and raising an alarm for each one without an
/// authorisation.
///
/// Only this service signs for its apps, except offers without a rule and offers that another server signs too. Any
/// other redemption without a signature from this service means that someone else has a key.
package struct LedgerWatch: Service {
    private let store: CurrentStore
    private let policy: CurrentPolicy
    private let now: @Sendable () -> Timestamp
    private let readiness: Readiness
    private let metrics: SyncMetrics
    private let log: Logger
    private let counting: WorkLease

    /// The maximum number of alarms that health and the metric show.
    package static let maximumAlarms = 100
    private static let interval = Duration.seconds(5)
    private static let redemptionsPerRound = 1000

    package init(
        _ store: CurrentStore, policy: CurrentPolicy, now: @escaping @Sendable () -> Timestamp, readiness: Readiness,
        metrics: SyncMetrics, log: Logger
    ) {
        self.store = store
        self.policy = policy
        self.now = now
        self.readiness = readiness
        self.metrics = metrics
        self.log = log
        counting = WorkLease(.countingRedemptions, in: store)
    }

    /// The state carried from one round to the next.
    package struct Progress {
        /// The coverage for which the store expects authorisations; nil before the first round.
        var begun: LedgerCoverage?
        /// The last redemption counted; nil before the first round.
        var counted: Int64?
    }

    package func run() async throws {
        guard store.isConfigured else { return try await gracefulShutdown() }
        await cancelWhenGracefulShutdown {
            var progress = Progress()
            await Periodic.run(every: Self.interval) { await check(&progress) }
        }
        await counting.release()
    }

    package func check(_ progress: inout Progress) async {
        guard store.store != nil else { return }
        let coverage = policy.snapshot.catalogue?.ledgerCoverage ?? LedgerCoverage()
        do throws(StoreError) {
            try await begin(coverage, &progress)
            if await counting.isOurs() {
                try await count(&progress)
            } else {
                progress.counted = nil
            }
            let alarms = try await store.unexplainedRedemptions(in: coverage.apps, limit: Self.maximumAlarms)
            let environments = Set(coverage.apps.map(\.environment))
            let counts = Dictionary(
                uniqueKeysWithValues: environments.map { environment in
                    (environment, alarms.count { $0.app.environment == environment })
                })
            metrics.update(\.unexplainedRedemptions, counts)
            readiness.report(alarms.map(\.alarm), from: .ledger, level: .critical, to: log)
        } catch {
            log.debug("the ledger could not be read", metadata: ["reason": "\(error.detail)"])
            // An alarm may exist, so report that the number is unknown.
            metrics.update(\.unexplainedRedemptions, nil)
            readiness.report([error.ledgerUnread], from: .ledger, to: log)
        }
    }

    /// Begins to expect authorisations for the redemptions that a new configuration covers.
    private func begin(_ coverage: LedgerCoverage, _ progress: inout Progress) async throws(StoreError) {
        guard progress.begun != coverage else { return }
        let time = now()
        try await store.beginLedger(coverage, at: time)
        progress.begun = coverage
        // A warning only: without it, alarms are still raised.
        guard let samples = try? await store.sampleSizes() else { return }
        for problem in policy.snapshot.catalogue?.changedSamples(since: samples) ?? [] {
            log.warning("\(problem.error)", metadata: ["hint": "\(problem.hint)"])
        }
    }

    /// Counts the redemptions found since the last round.
    private func count(_ progress: inout Progress) async throws(StoreError) {
        guard let counted = progress.counted else {
            progress.counted = try await store.lastRedemption()
            return
        }
        let found = try await store.redemptions(after: counted, limit: Self.redemptionsPerRound)
        let catalogue = policy.snapshot.catalogue
        for redemption in found where catalogue?.contains(redemption) == true { metrics.redeemed(redemption) }
        progress.counted = found.last?.number ?? counted
    }
}

extension Catalogue {
    /// All redemptions in the configured apps, except those of offers without a rule and of offers that another server
    /// signs too.
    package var ledgerCoverage: LedgerCoverage {
        var (scopes, decided, exempt): (Set<AppScope>, Set<LedgerOffer>, Set<LedgerOffer>) = ([], [], [])
        var samples: [AppScope: [String: Double]] = [:]
        for (bundleID, app) in apps {
            for environment in app.environments {
                let scope = AppScope(bundleID: bundleID, environment: environment)
                scopes.insert(scope)
                // The file's reader refuses a sample with several sizes.
                samples[scope] = app.rules.sampleSizes.compactMapValues(\.first)
                for (productID, offerIDs) in app.offers {
                    for offerID in offerIDs {
                        let offer = LedgerOffer(app: scope, productID: productID, offerID: offerID)
                        let terms = app.rules.terms(of: productID, offerID)
                        if terms?.isSignedElsewhere == false { decided.insert(offer) } else { exempt.insert(offer) }
                    }
                }
            }
        }
        return LedgerCoverage(apps: scopes, decided: decided, exempt: exempt, samples: samples)
    }

    fileprivate func contains(_ redemption: LedgerRedemption) -> Bool {
        apps[redemption.app.bundleID]?.offers[redemption.productID]?
            .contains { $0.text.description == redemption.offerID } == true
    }
}

extension LedgerRedemption {
    /// The alarm about a redemption without an authorisation, for operators.
    package var alarm: Diagnostic {
        // The time is left out, because it changes when the discounted period begins.
        Diagnostic(
            """
            ALARM: the offer \(offerID) of \(productID.text) was redeemed in \(app.bundleID.text) (\(app.environment.rawValue)) \
            without a signature of this service: somebody else may hold a key (redemption \(number))
            """,
            hint:
                "rotate the keys of the app; or, if another server of yours signs this offer, list it and set signedElsewhere: true; then run offer-signer alarms acknowledge"
        )
    }
}

extension StoreError {
    /// The problem to report if unexplained redemptions cannot be detected.
    fileprivate var ledgerUnread: Diagnostic {
        Diagnostic("redemptions cannot be checked, because \(diagnostic.error)", hint: diagnostic.hint)
    }
}
