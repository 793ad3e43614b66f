import ArgumentParser
import FoundationEssentials
import OfferAudit
import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferService
import SubscriberStore
import SystemPackage

/// `offer-signer links make`: makes a personal link for each customer of a list.
struct LinksMakeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "make",
        abstract: "Make a personal link for each customer of a list, as a file for your mail program.",
        discussion: """
            The list is a file of comma-separated values with a head. One column is appAccountToken, applicationUsername, \
            originalTransactionID or appTransactionID; the other columns are yours. The file that is made has the same \
            columns and the column link:

              offer-signer links make --campaign spring --customers list.csv --output mailing.csv

            Customers whom the campaign leaves out (holdOut) are not in it, so send mail only to those in it. The same list \
            gives the same links again. The audit trail gets a line first. See docs/links.md.
            """
    )

    @Option(help: "The name of the campaign in the configuration file.") var campaign: String
    @Option(help: ArgumentHelp("The list of customers.", valueName: "file")) var customers: String
    @Option(help: ArgumentHelp("The file to create, which only you can read.", valueName: "file")) var output: String
    @Option(help: "The number of days for which new links are valid, from 1 to 366.") var days = 30
    @Option(
        help: "The environment: Production (the default, if the app has it), Sandbox, Xcode or LocalTesting.",
        transform: AppStoreEnvironment.init(option:))
    var environment: AppStoreEnvironment?
    @OptionGroup var options: DatabaseOptions

    /// The number of links that are made in one change.
    private static let batchSize = 200

    func validate() throws {
        guard (1...366).contains(days) else { throw ValidationError("--days is from 1 to 366.") }
    }

    func run() async throws {
        let configuration = try options.configuration()
        let configured = try configuration.campaign(campaign, in: environment)
        let now = Timestamp(.now)
        let maker = try maker(configured, configuration, at: now)
        let list = try CustomerList(path: customers, ifWrong: "no link was made", reserved: ["link"])
        let count = try list.check()
        if list.hasUsernames, configuration.callers.usernameSalt != nil {
            StandardStreams.printError(
                "warning: the service hashes usernames for some callers, and a link counts only for the username in the "
                    + "list as it is written\n")
        }
        let file = try NewFile(output)
        try await ConsoleAudit.record(
            .mailing, about: campaign,
            item: CatalogueItem(
                app: configured.scope.bundleID, product: configured.campaign.offer?.productID,
                offer: configured.campaign.offer?.offerID), configuration)
        let tally = try await options.withStore { store in
            try await file.create(
                hint: "name a new file in a folder that exists; the same command makes the same links again"
            ) { try await make(list, of: count, by: maker, in: store, to: $0) }
        }
        StandardStreams.printError(
            "ok: \(tally.made) links, \(tally.heldOut) customers left out of the mailing"
                + (tally.erased == 0 ? "" : ", \(tally.erased) erased customers without a link")
                + (tally.over == 0 ? "\n" : ", \(tally.over) customers whose link of this campaign is over\n"))
        if tally.over > 0 {
            StandardStreams.printError("hint: write to customers again with a campaign of another name\n")
        }
    }

    private func maker(
        _ configured: ConfiguredCampaign, _ configuration: Configuration, at now: Timestamp
    ) throws -> LinkMaker {
        guard let secret = configuration.links.key else {
            throw CommandError(
                "\(Settings.linksKey.variable) is not set",
                hint: "set it to a random secret, such as the output of: openssl rand -hex 32")
        }
        guard let origin = configuration.links.origin else {
            throw CommandError(
                "\(Settings.linksURL.variable) is not set",
                hint: "set it to the host of links, such as https://go.example.com")
        }
        guard !configured.campaign.hasEnded(at: now) else {
            throw CommandError("the campaign has ended", hint: "change until in \(Settings.configurationFile.variable)")
        }
        let maker = LinkMaker(
            configured.campaign, in: configured.scope, under: try LinkKey(secret), origin: origin.text,
            rulesDigest: configuration.catalogue?.digest ?? [], at: now, lifetime: .hours(24 * days))
        guard let maker else {
            throw CommandError(
                "the campaign has no offer for personal links",
                hint: "add offer to the campaign in \(Settings.configurationFile.variable)")
        }
        return maker
    }

    private struct Tally {
        var (made, heldOut, erased, over) = (0, 0, 0, 0)
    }

    private func make(
        _ list: CustomerList, of count: Int, by maker: LinkMaker, in store: any SubscriberStore, to file: FileDescriptor
    ) async throws -> Tally {
        var reader = try list.reader()
        var progress = Progress()
        var (tally, done) = (Tally(), 0)
        var head = CSV()
        head.add((list.head + ["link"]).map(CSV.Cell.verbatim))
        _ = try file.writeAll(head.text.utf8)
        while true {
            var batch: [(values: [String], customer: CustomerIdentifier)] = []
            while batch.count < Self.batchSize, let values = try list.next(&reader) { batch.append(values) }
            if batch.isEmpty { return tally }
            var rows = CSV()
            for (row, made) in zip(batch, try await maker.make(for: batch.map(\.customer), in: store)) {
                switch made {
                case .link(let address):
                    tally.made += 1
                    rows.add((row.values + [address]).map(CSV.Cell.verbatim))
                case .heldOut: tally.heldOut += 1
                case .erased: tally.erased += 1
                case .over: tally.over += 1
                }
            }
            _ = try file.writeAll(rows.text.utf8)
            done += batch.count
            progress.report("\(done) of \(count) customers")
        }
    }
}
