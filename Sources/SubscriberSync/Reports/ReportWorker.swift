package import Logging
package import OfferConfiguration
package import OfferCore
import OfferEligibility
import OfferTelemetry
import ServiceLifecycle
package import SubscriberStore

/// The service that makes the reports that are requested, one at a time among all processes.
///
/// It counts on threads that run only when no event loop needs their core, and reads the next customers only after
/// counting the last ones. So it slows down while the service is busy.
package struct ReportWorker: Service {
    private let store: CurrentStore
    private let policy: CurrentPolicy
    private let background: BackgroundReading
    private let now: @Sendable () -> Timestamp
    private let metrics: SyncMetrics
    private let log: Logger
    private let reporting: WorkLease

    private static let interval = Duration.seconds(1)
    /// The number of customers or subscriptions after which the progress is noted in the store.
    private static let customersPerNote = 1000

    /// - Parameter background: the threads that read and count.
    package init(
        _ store: CurrentStore, policy: CurrentPolicy, background: BackgroundReading,
        now: @escaping @Sendable () -> Timestamp, metrics: SyncMetrics, log: Logger
    ) {
        self.store = store
        self.policy = policy
        self.background = background
        self.now = now
        self.metrics = metrics
        self.log = log
        reporting = WorkLease(.reporting, in: store)
    }

    package func run() async throws {
        guard store.isConfigured else { return try await gracefulShutdown() }
        await cancelWhenGracefulShutdown {
            await Periodic.run(every: Self.interval) { await round() }
        }
        await reporting.release()
    }

    /// Makes the reports that are waiting, in the order of their requests.
    package func round() async {
        guard store.store != nil, let kept = try? await store.keptReports() else { return }
        let waiting = kept.compactMap { report in report.requestedAt.map { (at: $0, report.subject) } }
        for (_, subject) in waiting.sorted(by: { $0.at < $1.at }) where !Task.isCancelled {
            await reporting.perform { await make(subject) }
        }
    }

    private enum Failure: Error {
        case unknownApp, tooLarge(Int)
    }

    /// Makes a report and keeps it. If the service stops or loses the lease, the request goes on waiting.
    private func make(_ subject: ReportSubject) async {
        let result: [UInt8]?
        do {
            result = try await self.result(of: subject)
        } catch {
            guard !Task.isCancelled else { return }
            result = nil
            log.warning(
                "a report failed", metadata: ["subject": "\(subject.name)", "reason": "\(error)"])
        }
        metrics.reported(result == nil ? .failed : .made)
        try? await store.settleReport(subject, result: result, at: now())
    }

    private func result(of subject: ReportSubject) async throws -> [UInt8] {
        let catalogue = policy.snapshot.catalogue ?? Catalogue(apps: [:])
        let time = now()
        let made = try await background.run {
            try await subject.result(in: catalogue, at: time, over: store) { count in
                guard count % Self.customersPerNote == 0 else { return }
                try? await store.noteProgress(of: subject, customersRead: count)
            }
        }
        guard let result = made else { throw Failure.unknownApp }
        guard result.count <= KeptReport.maximumSize else { throw Failure.tooLarge(result.count) }
        return result
    }
}

extension ReportSubject {
    /// The offer, or the app whose subscriptions the report is about, for the log.
    fileprivate var name: String {
        switch topic {
        case .offer(let offer, _): offer.offerID.text.description
        case .subscriptions(let app, _): "subscriptions of \(app.bundleID.text)"
        }
    }
}
