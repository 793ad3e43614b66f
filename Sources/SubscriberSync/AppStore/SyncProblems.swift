import AppStoreAPI
package import Logging
import NIOConcurrencyHelpers
import OfferConfiguration
package import OfferCore
package import OfferEligibility
package import OfferTelemetry

/// The current failures of the service's own requests to the App Store, for health checks and the log.
package final class SyncProblems: Sendable {
    enum Part: String, Sendable {
        case recovery, polling
        case receipts = "verifyReceipt"
    }

    private struct Key: Hashable {
        let app: AppScope
        let part: Part
    }

    private struct Noted {
        let problem: Diagnostic
        let at: Timestamp
    }

    private let readiness: Readiness
    private let now: @Sendable () -> Timestamp
    private let log: Logger
    private let current = NIOLockedValueBox<[Key: Noted]>([:])

    package init(readiness: Readiness, now: @escaping @Sendable () -> Timestamp, log: Logger) {
        self.readiness = readiness
        self.now = now
        self.log = log
    }

    /// Notes a failure. An exhausted rate limit is not a problem, because it only delays requests.
    func note(_ failure: SyncError, of app: AppScope, _ part: Part) {
        if case .api(.limited) = failure { return }
        note(failure.diagnostic, of: app, part)
    }

    func note(_ diagnostic: Diagnostic, of app: AppScope, _ part: Part) {
        let problem = Diagnostic(
            "\(part.rawValue) for \(app.bundleID.text) in \(app.environment.rawValue) fails: \(diagnostic.error)",
            hint: diagnostic.hint)
        let noted = Noted(problem: problem, at: now())
        change { $0[Key(app: app, part: part)] = noted }
    }

    func clear(of app: AppScope, _ part: Part) { change { $0[Key(app: app, part: part)] = nil } }

    /// Forgets a failure that was last noted before `time`.
    func expire(of app: AppScope, _ part: Part, notedBefore time: Timestamp) {
        let key = Key(app: app, part: part)
        change { if let noted = $0[key], noted.at < time { $0[key] = nil } }
    }

    /// Forgets the failures of apps that are no longer refreshed, and failures with receipts that are older than an
    /// hour.
    package func keepOnly(_ apps: [AppScope]) {
        let oldest = now() - .hours(1)
        change { problems in
            problems = problems.filter { key, noted in
                apps.contains(key.app) && (key.part != .receipts || noted.at >= oldest)
            }
        }
    }

    private func change(_ change: (inout [Key: Noted]) -> Void) {
        let problems = current.withLockedValue { current -> [Diagnostic]? in
            let before = current.mapValues(\.problem)
            change(&current)
            guard current.mapValues(\.problem) != before else { return nil }
            return current.values.map(\.problem).sorted { $0.error < $1.error }
        }
        if let problems { readiness.report(problems, from: .appStoreAPI, level: .warning, to: log) }
    }
}
