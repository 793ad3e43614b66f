import Logging
import OfferAudit
import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferHTTP
import OfferService
import OfferTelemetry

/// The lines about acts of persons that commands write to the audit trail.
enum ConsoleAudit {
    /// Waits until the line is durable. Does nothing without an audit trail.
    static func record(
        _ kind: ConsoleAct.Kind, about: String?, roles: [String] = [], item: CatalogueItem? = nil,
        _ configuration: Configuration
    ) async throws {
        let log = Logger(label: "offer-signer") { StreamLogHandler.standardError(label: $0) }
        let now = SystemInputs.system.now
        guard
            let trail = try await AuditTrail.open(
                configuration.audit, now: now, readiness: Readiness(), metrics: ServiceMetrics().audit, log: log)
        else { return }
        let act = ConsoleAct(kind, by: CommandUser.name, subject: nil, about: about, roles: roles)
        let entry = AuditEntry(time: now(), requestID: RequestContext().id.text, act: act, address: nil, item: item)
        guard trail.fault == nil, let commit = trail.add([entry]), await commit.isDurable() else {
            throw CommandError(
                "the audit trail cannot be written",
                hint: "run the command under the account of the service, or with sudo")
        }
    }
}
