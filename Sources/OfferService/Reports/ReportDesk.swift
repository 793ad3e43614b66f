import NIOConcurrencyHelpers
package import OfferCore
package import OfferEligibility
package import OfferReports
package import SubscriberStore
package import SubscriberSync

/// The reports of offers and subscriptions, for pages and callers: the kept results, and requests for new ones.
///
/// A report that is missing or old is requested when somebody wants to see it, so nothing is computed that nobody reads.
package final class ReportDesk: Sendable {
    /// The age at which a report that somebody reads is made again.
    package static let maximumAge = Duration.hours(1)
    /// The time after a failure in which nobody's reading requests the report again.
    package static let pause = Duration.seconds(300)
    /// The number of results in memory.
    private static let maximumInMemory = 100

    private let store: CurrentStore
    /// Reading a result from the store and decoding it takes milliseconds.
    private let inMemory = NIOLockedValueBox<[ReportSubject: (madeAt: Timestamp, report: any KeptResult)]>([:])

    package init(store: CurrentStore) {
        self.store = store
    }

    /// Returns what is known about reports, and requests those that are missing or old.
    /// - Parameter type: the type of report that the subjects have.
    package func standings<Report: KeptResult>(
        of subjects: [ReportSubject], at now: Timestamp, as type: Report.Type = OfferReport.self
    ) async throws(StoreError) -> [ReportSubject: ReportStanding<Report>] {
        var kept = try await keptReports(of: subjects)
        var reports: [ReportSubject: Report] = [:]
        for (subject, known) in kept { reports[subject] = try await report(of: known) }
        let wanted = subjects.filter { subject in
            kept[subject].map { $0.isDue(at: now, hasReport: reports[subject] != nil) } ?? true
        }
        for subject in wanted { _ = try await store.requestReport(subject, at: now) }
        if !wanted.isEmpty { kept = try await keptReports(of: subjects) }
        return Dictionary(
            uniqueKeysWithValues: subjects.map { subject in
                let work = kept[subject].map(ReportWork.init) ?? .refused
                return (subject, ReportStanding(report: reports[subject], work: work))
            })
    }

    /// Returns the counts of each campaign of an app that has any, by name.
    package func linkCounts(in app: AppScope) async throws(StoreError) -> [String: LinkCounts] {
        try await store.linkCounts(in: app)
    }

    /// Requests a new report, however old the kept one is.
    /// - Returns: false if too many reports are waiting.
    package func request(_ subject: ReportSubject, at now: Timestamp) async throws(StoreError) -> Bool {
        try await store.requestReport(subject, at: now)
    }

    private func keptReports(of subjects: [ReportSubject]) async throws(StoreError) -> [ReportSubject: KeptReport] {
        let wanted = Set(subjects)
        return Dictionary(
            uniqueKeysWithValues: try await store.keptReports().filter { wanted.contains($0.subject) }
                .map { ($0.subject, $0) })
    }

    private func report<Report: KeptResult>(of kept: KeptReport) async throws(StoreError) -> Report? {
        guard let madeAt = kept.madeAt else { return nil }
        if let known = inMemory.withLockedValue({ $0[kept.subject] }), known.madeAt == madeAt {
            return known.report as? Report
        }
        guard let report = try await store.result(of: kept.subject).flatMap(Report.init(kept:)) else { return nil }
        inMemory.withLockedValue { reports in
            if reports.count >= Self.maximumInMemory { _ = reports.popFirst() }
            reports[kept.subject] = (madeAt, report)
        }
        return report
    }
}

/// A report that can be made from its kept bytes.
package protocol KeptResult: Sendable {
    init?(kept: [UInt8])
}

extension OfferReport: KeptResult {}
extension SubscriptionReport: KeptResult {}

/// A report, or the state of its making.
package struct ReportStanding<Report: Sendable>: Sendable {
    /// nil if none has been made.
    package let report: Report?
    package let work: ReportWork
}

/// The state of the work on a newer report.
package enum ReportWork: Hashable, Sendable {
    /// None is needed.
    case none
    case waiting(customersRead: Int)
    case failed(at: Timestamp)
    /// Too many reports are waiting.
    case refused
}

extension KeptReport {
    /// - Parameter hasReport: false if there is no result, or another version wrote it.
    fileprivate func isDue(at now: Timestamp, hasReport: Bool) -> Bool {
        guard requestedAt == nil else { return false }
        if let failedAt, failedAt <= now, now < failedAt + ReportDesk.pause { return false }
        guard hasReport, let madeAt else { return true }
        return madeAt + ReportDesk.maximumAge <= now || now < madeAt
    }
}

extension ReportWork {
    fileprivate init(_ kept: KeptReport) {
        self =
            if kept.requestedAt != nil {
                .waiting(customersRead: kept.customersRead)
            } else if let failedAt = kept.failedAt {
                .failed(at: failedAt)
            } else {
                .none
            }
    }
}
