import OfferCore
import OfferEligibility
import SubscriberStore

/// The result of a readiness probe.
package struct HealthReport {
    /// The checks of a readiness probe. `openapi.json` documents their states.
    enum Check: String, CaseIterable {
        case keys, selfTest, audit, clock, catalogue, appStore, appStoreAPI, appStoreConnect, store, notifications,
            ledger,
            retention
    }

    package enum State: String, Sendable {
        case ok
        /// Something is wrong, but the service can sign everything that it should.
        case degraded
        /// The service cannot sign everything that it should.
        case failed
        /// There is nothing to check.
        case off
    }

    /// The part of the report that only some clients may see.
    struct Details {
        let activeKeys: [KeyID]
        let problems: [Diagnostic]
        let intakes: [Intake]
    }

    let states: [Check: State]
    let details: Details?

    /// The maximum number of problems in a report. The log contains all of them.
    private static let maximumProblems = 50

    func write(to writer: inout JSONWriter) {
        writer.object("checks") { writer in
            for check in Check.allCases { writer.member(check.rawValue, (states[check] ?? .off).rawValue) }
        }
        guard let details else { return }
        writer.member("activeKeys", details.activeKeys.map(\.description))
        if !details.intakes.isEmpty {
            writer.objects("notifications", details.intakes) { writer, intake in
                writer.member("bundleID", utf8: intake.app.bundleID.text.utf8)
                writer.member("environment", intake.app.environment.rawValue)
                writer.member("received", Int64(intake.notifications))
                if let time = intake.lastReceivedAt { writer.member("lastReceivedAt", time.milliseconds) }
                if let lag = intake.lag { writer.member("lagSeconds", Int64(lag)) }
            }
        }
        guard !details.problems.isEmpty else { return }
        writer.member("problems", details.problems.prefix(Self.maximumProblems).map(\.error))
    }
}
