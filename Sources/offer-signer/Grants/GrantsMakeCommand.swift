import ArgumentParser
import FoundationEssentials
import OfferAudit
import OfferCore
import OfferEligibility
import OfferService
import SubscriberStore

/// `offer-signer grants make`: gives an offer to a customer.
struct GrantsMakeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "make",
        abstract: "Give an offer to a customer once, in place of the offer's rule.",
        discussion: """
            Reads the configuration and the database as 'serve' does, even while the service runs. The app needs the \
            member grants in the configuration file, and the reason is one of its reasons:

              offer-signer grants make --bundle-id com.example.app --app-account-token \
            01234567-89ab-cdef-0123-456789abcdef --product-id pro.monthly --offer-id winback_1m --reason goodwill

            Above your daily budget, somebody else must approve the grant. The audit trail gets a line first. \
            docs/grants.md says what a grant replaces and what still holds.
            """
    )

    @OptionGroup var app: GrantsAppOptions
    @OptionGroup var customer: CustomerOptions

    @Option(
        help: ArgumentHelp("The product of the offer.", valueName: "id"),
        transform: { text in
            do { return try ProductID(utf8: Array(text.utf8)) } catch { throw ValidationError("\(error)") }
        })
    var productID: ProductID

    @Option(
        help: ArgumentHelp("The offer.", valueName: "id"),
        transform: { text in
            do { return try OfferID(utf8: Array(text.utf8)) } catch { throw ValidationError("\(error)") }
        })
    var offerID: OfferID

    @Option(help: "One of the reasons in the configuration file.") var reason: String
    @Option(help: "What happened: up to 1,000 bytes.") var note: String?
    @Option(help: "The number of a support ticket: up to 100 bytes.") var ticket: String?
    @Option(help: "The number of days for which the grant is valid, from 1 to 366 (default: as configured).")
    var days: Int?
    @Flag(help: "Replace perCustomer and cooldown too.") var liftLimits = false

    func validate() throws {
        guard (1...366).contains(days ?? 1) else { throw ValidationError("--days is from 1 to 366.") }
        guard (1...OfferGrant.Purpose.maximumNoteSize).contains(note?.utf8.count ?? 1) else {
            throw ValidationError("--note has 1 to 1000 bytes.")
        }
        guard (1...OfferGrant.Purpose.maximumTicketSize).contains(ticket?.utf8.count ?? 1) else {
            throw ValidationError("--ticket has 1 to 100 bytes.")
        }
    }

    func run() async throws {
        let now = Timestamp(.now)
        try await app.withDesk { desk, configured async throws(Problem) in
            let order = GrantOrder(
                customer: CustomerReference(
                    bundleID: desk.bundleID, identifier: customer.identifier, environment: app.environment),
                productID: productID, offerID: offerID,
                purpose: OfferGrant.Purpose(reason: reason, note: note, ticket: ticket),
                expiresAt: days.map { now + .hours(24 * $0) }, liftsLimits: liftLimits)
            let prepared = try await desk.desk.prepare(order, by: desk.person, of: configured, at: now)
            let stored = StoredGrant(app: prepared.app, grant: prepared.grant)
            let made = try await desk.record(.grant, stored) { () async throws(Problem) in
                try await desk.desk.make(prepared)
            }
            try await desk.show(StoredGrant(app: prepared.app, grant: made))
        }
    }
}
