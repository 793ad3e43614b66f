package import AppStoreAPI
import AppStoreData
package import Logging
package import OfferConfiguration
package import OfferCore
package import OfferEligibility
import SubscriberStore

/// Reads the App Store's notification history and stores the notifications that never arrived.
///
/// They pass through the same intake as posted notifications, which verifies them, stores them once and forwards them.
package struct NotificationRecovery: Sendable {
    /// The counts of a run so far.
    package struct Counts: Hashable, Sendable {
        /// The number of notifications in the App Store's list.
        package fileprivate(set) var listed = 0
        /// The number of listed notifications that were missing in the store.
        package fileprivate(set) var recovered = 0
        /// The number of listed notifications that were unreadable or belong to other apps.
        package fileprivate(set) var refused = 0
        /// The time up to which the history has been read.
        package fileprivate(set) var until: Timestamp
    }

    private let client: AppStoreClient
    private let intake: NotificationIntake
    private let store: CurrentStore
    private let policy: @Sendable () -> Policy
    private let now: @Sendable () -> Timestamp
    private let metrics: SyncMetrics
    private let log: Logger

    /// The time span of one query. A short span lets an interrupted run resume.
    private static let window = Duration.days(1)

    package init(
        client: AppStoreClient, intake: NotificationIntake, store: CurrentStore,
        policy: @escaping @Sendable () -> Policy, now: @escaping @Sendable () -> Timestamp, metrics: SyncMetrics,
        log: Logger
    ) {
        self.client = client
        self.intake = intake
        self.store = store
        self.policy = policy
        self.now = now
        self.metrics = metrics
        self.log = log
    }

    /// Returns the time for which the App Store keeps notifications.
    package static func reach(in environment: AppStoreEnvironment) -> Duration {
        environment == .production ? .days(180) : .days(30)
    }

    /// Reads the history from `start` until now. The checkpoint advances after each day, unless there is a gap between
    /// the checkpoint and `start`.
    /// - Parameters:
    ///   - start: moved forward if the App Store no longer keeps such old notifications.
    ///   - onlyFailures: true to read only notifications that the App Store could not deliver. The checkpoint then
    ///     stays unchanged.
    ///   - progress: called after each page.
    package func run(
        of app: AppScope, from start: Timestamp, onlyFailures: Bool = false,
        progress: (Counts) -> Void = { _ in }
    ) async throws(SyncError) -> Counts {
        let end = now()
        // One minute is subtracted, because the App Store compares with its own clock.
        let reach = Self.reach(in: app.environment) - .seconds(60)
        let earliest = Timestamp(milliseconds: end.milliseconds - Int64(reach / .milliseconds(1)))
        var begin = max(start, earliest)
        var counts = Counts(until: begin)
        var movesCheckpoint = false
        // True if this run continues the span before the checkpoint without a gap.
        var continues = false
        if !onlyFailures {
            let checkpoint = try await checkpoint(of: app)
            // A checkpoint in the future was set by a clock that was ahead.
            continues = checkpoint.map { begin <= $0 && $0 <= end } == true
            movesCheckpoint = begin <= earliest || continues || checkpoint.map { end < $0 } == true
        }
        while begin < end {
            let windowEnd = onlyFailures ? end : min(end, begin + Self.window)
            let query = NotificationHistoryQuery(start: begin, end: windowEnd, onlyFailures: onlyFailures)
            let refused = counts.refused
            try await read(query, of: app, &counts, progress)
            counts.until = windowEnd
            // An unreadable notification leaves a gap. For the time before the first run, the App Store lists only
            // notifications for which it had an address.
            let isRead = counts.refused == refused
            let spanStart = isRead ? continues ? begin : end : windowEnd
            if movesCheckpoint {
                try await setCheckpoint(windowEnd, since: spanStart, continuing: continues && isRead, of: app)
            }
            begin = windowEnd
        }
        progress(counts)
        return counts
    }

    /// The limit allows two million notifications a day, at 20 a page.
    private static var pages: PageSequence { PageSequence(link: "paginationToken", maximumCount: 100_000) }

    private func read(
        _ query: NotificationHistoryQuery, of app: AppScope, _ counts: inout Counts,
        _ progress: (Counts) -> Void
    ) async throws(SyncError) {
        var token: String?
        var pages = Self.pages
        var restarts = 0
        repeat {
            let page: NotificationHistoryPage
            do throws(APIFailure) {
                page = try await client.send(.notificationHistory(query, after: token), for: app)
            } catch {
                guard case .refused(let code) = error, code.meansRestart, restarts < 3 else { throw .api(error) }
                // Notifications already read are stored, so reading them again changes nothing.
                (token, pages, restarts) = (nil, Self.pages, restarts + 1)
                continue
            }
            for notification in page.notifications { try await keep(notification, of: app, &counts) }
            note(unreadable: page.unreadableCount, of: app, &counts)
            progress(counts)
            token = page.next
            guard let next = token else { return }
            do { try pages.follow(next) } catch { throw .api(error) }
        } while true
    }

    private func note(unreadable count: Int, of app: AppScope, _ counts: inout Counts) {
        guard count > 0 else { return }
        counts.listed += count
        counts.refused += count
        log.warning(
            "entries of the App Store's notification history cannot be read",
            metadata: ["app": "\(app.bundleID.text)", "count": "\(count)"])
    }

    private func keep(
        _ sent: SentNotification, of app: AppScope, _ counts: inout Counts
    ) async throws(SyncError) {
        counts.listed += 1
        let policy = policy()
        let reading: NotificationReader.Reading
        do throws(DataRefusal) {
            reading = try await intake.read(.signed(sent.signedPayload), inHistoryOf: app, under: policy)
        } catch {
            // The notification stays in Apple's list, so the next run reads it again.
            guard !error.isRetryable else { throw .data(error) }
            counts.refused += 1
            log.warning(
                "refused a notification from the App Store's history",
                metadata: ["app": "\(app.bundleID.text)", "reason": "\(error)"])
            return
        }
        var writer = JSONWriter()
        writer.member("signedPayload", utf8: sent.signedPayload)
        let outcome: DeliveryOutcome
        do throws(StoreError) { outcome = try await intake.keep(reading, body: writer.finish(), under: policy) } catch {
            throw .store(error)
        }
        guard outcome == .applied else { return }
        counts.recovered += 1
        metrics.received(.recovered)
        metrics.stored(reading.notification, of: reading.app)
        log.notice(
            "missed notification recovered",
            metadata: [
                "app": "\(reading.app.bundleID.text)", "environment": "\(reading.app.environment.rawValue.printable)",
                "type": "\(reading.notification.type.printable)",
                "notificationUUID": "\(reading.notification.notificationUUID)",
                "lastAttempt": "\(sent.attempts.last?.result.printable ?? "none")",
            ])
    }

    /// Returns the time before which all notifications of the App Store have been read; nil if there is no such time.
    func checkpoint(of app: AppScope) async throws(SyncError) -> Timestamp? {
        do throws(StoreError) {
            return try await store.recoveryCheckpoint(of: app)
        } catch { throw .store(error) }
    }

    private func setCheckpoint(
        _ time: Timestamp, since start: Timestamp, continuing: Bool, of app: AppScope
    ) async throws(SyncError) {
        let now = now()
        do throws(StoreError) {
            try await store.setRecoveryCheckpoint(
                time, since: start, continuing: continuing, of: app, at: now)
        } catch { throw .store(error) }
    }
}
