import ArgumentParser
import FoundationEssentials
import OfferAudit
import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferService
import SubscriberStore
import SystemPackage

/// `offer-signer customers list`: lists the stored customers to write to.
struct CustomersListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the customers who may have an offer now, or whose payment needs their help.",
        discussion: """
            Reads every customer of the database, decides as POST /v1/decisions does without asking the App Store, and \
            lists those who may have the offer, by its rule and its limits. Nothing is signed or reserved, and you can use \
            it while the service runs. The file is one that 'links make' takes:

              offer-signer customers list --offer winback_1m --output list.csv
              offer-signer links make --campaign spring --customers list.csv --output mailing.csv

            Other lists are about customers in billing retry, and about those who have not agreed to a higher price:

              offer-signer customers list --state billing_retry --output retry.csv

            Held-out customers are left out unless you ask for them, because contacting them spoils the comparison. The \
            audit trail gets a line first.
            """
    )

    enum Format: String, ExpressibleByArgument, CaseIterable { case csv, json }
    enum HeldOut: String, ExpressibleByArgument, CaseIterable { case exclude, include }

    @Option(
        help: ArgumentHelp("The offer that the customers may have now.", valueName: "id"),
        transform: { text in
            do { return try OfferID(utf8: Array(text.utf8)) } catch { throw ValidationError("\(error)") }
        })
    var offer: OfferID?

    @Option(help: "List customers in a state instead: billing_retry or price_increase.") var state: Worklist.State?

    @Option(
        help: ArgumentHelp(
            "Only customers who may have the offer since a date or time (UTC). The app needs events.", valueName: "time"
        ),
        transform: { text in
            guard let time = Timestamp(dateOrTime: text) else {
                throw ValidationError("It must be a date or a time, such as 2026-11-20 or 2026-11-20T10:00:00Z.")
            }
            return time
        })
    var since: Timestamp?

    @Option(help: "Customers who are held out of the offer: exclude or include.") var heldOut = HeldOut.exclude

    @Option(
        help: ArgumentHelp(
            "The name in the first column: \(WorklistCustomer.names.map(\.rawValue).joined(separator: ", ")).",
            valueName: "name"),
        transform: { text in
            guard let kind = WorklistCustomer.names.first(where: { $0.rawValue == text }) else {
                throw ValidationError(
                    "It must be \(WorklistCustomer.names.map(\.rawValue).joined(separator: ", ")).")
            }
            return kind
        })
    var name = CustomerIdentifier.Kind.appAccountToken

    @Option(help: "The output format: csv, or json with one object on each line.") var format = Format.csv

    @Option(
        help: ArgumentHelp(
            "The file to create, which only you can read (default: standard output).", valueName: "file"))
    var output: String?

    @OptionGroup var selection: OfferSelectionOptions
    @OptionGroup var options: DatabaseOptions

    func validate() throws {
        guard (offer == nil) != (state == nil) else {
            throw ValidationError("Name the list by --offer or by --state.")
        }
        guard state == nil || heldOut == .exclude else {
            throw ValidationError("Nobody is held out of --state. Leave out --held-out.")
        }
        guard since == nil || heldOut == .exclude else {
            throw ValidationError("Nobody knows since when a customer is held out. Leave out --held-out or --since.")
        }
        guard state == nil || since == nil else { throw ValidationError("--since is for --offer.") }
    }

    func run() async throws {
        let configuration = try options.configuration()
        let catalogue = configuration.catalogue ?? Catalogue(apps: [:])
        let (list, scope, app) = try worklist(in: catalogue)
        let file = try output.map(NewFile.init)
        try await ConsoleAudit.record(
            .worklist, about: offer == nil ? state?.rawValue : nil,
            item: CatalogueItem(app: scope.bundleID, product: list.offer?.productID, offer: list.offer?.offerID),
            configuration)
        // Only now, because the service waits for the lock of the audit trail.
        IdleProcess.begin()
        guard since == nil || !app.events.receivers.isEmpty else {
            throw CommandError(
                "nobody knows since when customers may have the offer, because the app has no events",
                hint: "name a receiver under events.to of the app; what happens from then on is known")
        }
        let reader = WorklistReader(list, since: since, of: scope, app, at: Timestamp(.now))
        let customers = try await options.withStore { store in
            let progress = ProgressLines()
            // The work stays on the threads that read.
            return try await withTaskExecutorPreference(store.executor) {
                try await reader.all(
                    in: store, workers: ProcessInfo.processInfo.activeProcessorCount, progress: { progress.report($0) })
            }
        }
        let (text, unnamed) = text(of: customers)
        if let file {
            _ = try await file.create(hint: "name a new file in a folder that exists") { try $0.writeAll(text.utf8) }
        } else {
            StandardStreams.print(text)
        }
        StandardStreams.printError("ok: \(customers.count - unnamed) customers\n")
        if unnamed > 0 {
            StandardStreams.printError(
                "warning: \(unnamed) more customers have no \(name.rawValue)\n"
                    + "hint: --name originalTransactionID names every customer\n")
        }
    }

    private func worklist(in catalogue: Catalogue) throws -> (Worklist, AppScope, Catalogue.App) {
        if let offer {
            let (scope, product, app) = try selection.product(with: offer, in: catalogue)
            guard let terms = app.rules.terms(of: product, offer) else {
                throw CommandError(
                    "the offer has no rule, so anybody may have it",
                    hint: "give it a rule in \(Settings.configurationFile.variable)")
            }
            return (.offer(terms, includesHeldOut: heldOut == .include), scope, app)
        }
        guard let state else { throw ValidationError("Name the list by --offer or by --state.") }
        let (scope, app) = try selection.app.app(in: catalogue)
        return (.state(state), scope, app)
    }

    private func text(of customers: [WorklistCustomer]) -> (text: String, unnamed: Int) {
        switch format {
        case .json:
            return (customers.map { String(decoding: $0.json, as: UTF8.self) + "\n" }.joined(), 0)
        case .csv:
            var (table, unnamed) = (CSV(), 0)
            table.add(WorklistCustomer.csvHead(naming: name))
            for customer in customers {
                if let cells = customer.csv(naming: name) { table.add(cells) } else { unnamed += 1 }
            }
            return (table.text, unnamed)
        }
    }
}

extension Worklist.State: ExpressibleByArgument {}
