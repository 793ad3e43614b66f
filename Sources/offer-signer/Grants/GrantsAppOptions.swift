import ArgumentParser
import FoundationEssentials
import Logging
import OfferAudit
import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferHTTP
import OfferService
import OfferTelemetry
import SubscriberStore
import SubscriberSync

/// The app of a command about grants, with its database and audit trail.
struct GrantsAppOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The bundle ID of the app, if there are several.", valueName: "id"),
        transform: BundleID.init(option:))
    var bundleID: BundleID?

    @Option(
        help: "The environment: Production, Sandbox, Xcode or LocalTesting.",
        transform: AppStoreEnvironment.init(option:))
    var environment: AppStoreEnvironment?

    @OptionGroup var options: DatabaseOptions

    /// The desk on the command line. Its person is the user who runs the command.
    struct CommandDesk {
        let bundleID: BundleID
        let desk: GrantDesk
        let person: OfferGrant.Person
        fileprivate let changes: AuditedChanges

        /// Makes a change to a grant after its line in the audit trail is durable.
        func record<Result: Sendable>(
            _ kind: CustomerChange.Kind, _ stored: StoredGrant, _ change: () async throws(Problem) -> Result
        ) async throws(Problem) -> Result {
            let (time, id) = (Timestamp(.now), RequestContext().id.text)
            return try await changes.make(
                { outcome in
                    [
                        AuditEntry(
                            time: time, requestID: id, client: AuditEntry.Client(name: person.name), kind, stored,
                            outcome)
                    ]
                }, change)
        }

        /// Prints a grant on one line.
        func show(_ stored: StoredGrant) async throws(Problem) {
            let (grant, state) = (stored.grant, try await desk.state(of: stored, at: Timestamp(.now)))
            let customer = grant.subject.customer.map {
                "\($0.kind.rawValue) \(String(decoding: $0.utf8, as: UTF8.self))"
            }
            StandardStreams.print(
                "\(grant.id) \(state.rawValue) \(stored.app.environment.rawValue.printable) \(grant.productID.text) "
                    + "\(grant.offerID.text) to \((customer ?? "an erased customer").printable), "
                    + "\(grant.purpose.reason.printable), by \(grant.maker.name.printable), "
                    + "until \(String(decoding: grant.expiresAt.iso8601, as: UTF8.self))\n")
        }
    }

    func withDesk(
        _ body: (CommandDesk, Catalogue.App) async throws(Problem) -> Void
    ) async throws {
        let configuration = try options.configuration()
        let (id, configured) = try configuration.app(bundleID)
        let log = Logger(label: "offer-signer") { StreamLogHandler.standardError(label: $0) }
        let sources = SystemInputs.system
        let trail = try await AuditTrail.open(
            configuration.audit, now: sources.now, readiness: Readiness(), metrics: ServiceMetrics().audit, log: log)
        do {
            try await options.withStore { store in
                let desk = GrantDesk(
                    store: CurrentStore(configuration.store, store: store, log: log), makeNonce: sources.makeNonce,
                    now: sources.now, isAudited: trail != nil)
                let person = OfferGrant.Person(CommandUser.name)
                try await body(
                    CommandDesk(bundleID: id, desk: desk, person: person, changes: AuditedChanges(trail)), configured)
            }
        } catch let problem as Problem {
            throw CommandError(
                problem.detail,
                hint: problem.code == .environmentNeeded
                    ? "add --environment" : "docs/grants.md says what can be granted, and how to turn grants on")
        }
    }
}
