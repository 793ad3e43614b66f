import Logging
import NIOConcurrencyHelpers
import OfferCore
import OfferEligibility
import OfferTelemetry
import ServiceLifecycle
import SubscriberStore
import SubscriberSync

/// Counts the visits to the pages of links in memory, and adds them to the store every five seconds. A crash loses at most
/// those; the counts are for reports only.
package final class LinkVisitCounter: Service, Sendable {
    private struct Key: Hashable {
        let app: AppScope
        let campaign: String
        let day: Int64
        let isPersonal: Bool
    }

    private let counts = NIOLockedValueBox<[Key: Int64]>([:])
    private let store: CurrentStore
    private let log: Logger

    private static let interval = Duration.seconds(5)

    init(store: CurrentStore, log: Logger) {
        self.store = store
        self.log = log
    }

    func count(_ campaign: String, isPersonal: Bool, in app: AppScope, at now: Timestamp) {
        guard store.isConfigured else { return }
        let day = now.milliseconds / 86_400_000
        counts.withLockedValue {
            $0[Key(app: app, campaign: campaign, day: day, isPersonal: isPersonal), default: 0] += 1
        }
    }

    package func run() async throws {
        guard store.isConfigured else { return try await gracefulShutdown() }
        await cancelWhenGracefulShutdown {
            await Periodic.run(every: Self.interval) { await self.write() }
        }
        await write()
    }

    /// Adds the visits since the last time to the store. If that fails, they stay in memory for the next time.
    package func write() async {
        let taken = counts.withLockedValue { counts in
            defer { counts = [:] }
            return counts
        }
        for (app, keys) in Dictionary(grouping: taken.keys, by: \.app) {
            let visits = keys.map {
                LinkVisits(campaign: $0.campaign, day: $0.day, isPersonal: $0.isPersonal, count: taken[$0] ?? 0)
            }
            do { try await store.addVisits(visits, in: app) } catch {
                log.debug("visits to links not stored", metadata: ["reason": "\(error)"])
                counts.withLockedValue { counts in
                    for key in keys { counts[key, default: 0] += taken[key] ?? 0 }
                }
            }
        }
    }
}
