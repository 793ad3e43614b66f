import AppStoreData
package import Logging
package import OfferConfiguration
package import OfferTelemetry
import ServiceLifecycle

/// The background work for App Store data: OCSP requests, and tables that make verification faster.
package struct AppStoreWatch: Service {
    private let trust: AppStoreTrust
    private let client: OCSPClient?
    private let settings: AppStoreSettings
    private let readiness: Readiness
    private let log: Logger

    /// - Parameter client: closed when the service stops; nil if OCSP responders are not queried.
    package init(
        _ trust: AppStoreTrust, client: OCSPClient?, settings: AppStoreSettings, readiness: Readiness, log: Logger
    ) {
        self.trust = trust
        self.client = client
        self.settings = settings
        self.readiness = readiness
        self.log = log
    }

    package func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                if let checker = trust.checker { group.addTask { await checker.run() } }
                group.addTask { await Periodic.run(every: .seconds(1)) { check() } }
            }
        }
        await client?.close()
    }

    private func check() {
        readiness.report(settings.problems + (trust.checker?.problems ?? []), from: .appStore, level: .warning, to: log)
        let chains = trust.verifier.knownChains
        guard chains.canPrecompute else { return }
        do {
            try chains.precompute()
            log.debug("key of App Store data precomputed")
        } catch {
            log.warning(
                "the key of App Store data could not be precomputed, so the data is verified more slowly",
                metadata: ["reason": "\(error)"])
        }
    }
}
