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
        help: ArgumentHelp("The bundle ID of the app.", valueName: "id"), transform: BundleID.init(option:))
    var bundleID: BundleID

    @Option(
        help: "The environment: Production, Sandbox, Xcode or LocalTesting.",
        transform: AppStoreEnvironment.init(option:))
    var environment: AppStoreEnvironment?

    @OptionGroup var options: DatabaseOptions

    /// The desk on the command line. Its person is the user who runs the command.
    struct CommandDesk {
        let desk: GrantDesk
        let person: OfferGrant.Person
        /// nil without an audit trail.
        fileprivate let trail: AuditTrail?

        /// Waits until the line of an act is durable.
        func record(_ kind: CustomerChange.Kind, _ stored: StoredGrant) async throws(Problem) {
            guard let trail else { return }
            let grant = stored.grant
            let entry = AuditEntry(
                time: Timestamp(.now), requestID: RequestContext().id.text,
                client: AuditEntry.Client(name: person.name),
                change: CustomerChange(kind, in: stored.app.environment, grant: AuditedGrant(grant)),
                item: CatalogueItem(app: stored.app.bundleID, product: grant.productID, offer: grant.offerID),
                customer: grant.subject.customer?.utf8 ?? [], outcome: .accepted)
            guard trail.fault == nil, let commit = trail.add([entry]), await commit.isDurable() else {
                throw .auditUnavailable
            }
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
        let configured = try configuration.app(bundleID)
        let log = Logger(label: "offer-signer") { StreamLogHandler.standardError(label: $0) }
        let sources = SystemInputs.system
        let trail = try await AuditTrail.open(
            configuration.audit, now: sources.now, readiness: Readiness(), metrics: ServiceMetrics().audit, log: log)
        do {
            try await options.withStore { store in
                let desk = GrantDesk(
                    store: CurrentStore(configuration.store, store: store, log: log), makeNonce: sources.makeNonce,
                    now: sources.now)
                let person = OfferGrant.Person(CommandUser.name ?? "-")
                try await body(CommandDesk(desk: desk, person: person, trail: trail), configured)
            }
        } catch let problem as Problem {
            throw CommandError(
                problem.detail,
                hint: problem.code == .environmentNeeded
                    ? "add --environment" : "docs/grants.md says what can be granted, and how to turn grants on")
        }
    }
}
