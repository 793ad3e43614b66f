import AppStoreAPI
import Logging
import NIOConcurrencyHelpers
import OfferCore
import OfferTelemetry

/// The current failures of the service's own questions to the App Store, for health and log.
final class AskingProblems: Sendable {
    enum Part: String, Sendable { case recovery, polling }

    private struct Key: Hashable {
        let app: AppScope
        let part: Part
    }

    private let readiness: Readiness
    private let log: Logger
    private let current = NIOLockedValueBox<[Key: Diagnostic]>([:])

    init(readiness: Readiness, log: Logger) {
        self.readiness = readiness
        self.log = log
    }

    /// A used-up limit is no problem: the questions come later.
    func note(_ failure: AskingFailure, of app: AppScope, _ part: Part) {
        if case .api(.limited) = failure { return }
        let diagnostic = failure.diagnostic
        report(
            Key(app: app, part: part),
            Diagnostic(
                "\(part.rawValue) for \(app.bundleID.text) in \(app.environment.rawValue) fails: \(diagnostic.error)",
                hint: diagnostic.hint))
    }

    func clear(of app: AppScope, _ part: Part) { report(Key(app: app, part: part), nil) }

    private func report(_ key: Key, _ problem: Diagnostic?) {
        let problems = current.withLockedValue { current in
            current[key] = problem
            return current.values.sorted { $0.error < $1.error }
        }
        readiness.report(problems, from: .appStoreAPI, level: .warning, to: log)
    }
}
