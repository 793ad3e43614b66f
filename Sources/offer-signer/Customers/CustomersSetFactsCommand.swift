import ArgumentParser
import FoundationEssentials
import OfferAudit
import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferService
import SubscriberStore

/// `offer-signer customers set-facts`: sets facts of many customers from a file.
struct CustomersSetFactsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set-facts",
        abstract: "Set your team's facts about many customers from a file, such as nightly scores.",
        discussion: """
            The file has comma-separated values with a head. One column is appAccountToken, applicationUsername, \
            originalTransactionID or appTransactionID; each other column is a fact, with the name that rules use:

              appAccountToken,churnRisk,episodesWatched
              d3b07384-d113-4ec6-a7b1-6f1c2f5e9b10,high,40

            true, false and numbers are values of that kind; anything else is text. An empty cell removes the fact. The whole \
            file is checked before anything changes. Use it while the service runs, and repeat it whenever it stops: the same \
            file gives the same facts. The audit trail gets a line first. See docs/customers.md.
            """
    )

    @Argument(help: ArgumentHelp("The list of customers with their facts.", valueName: "file")) var file: String
    @OptionGroup var app: AppOptions
    @OptionGroup var options: DatabaseOptions

    /// The number of customers whose facts are set in one change.
    private static let batchSize = 200

    func run() async throws {
        let configuration = try options.configuration()
        let (scope, settings) = try app.app(in: configuration.catalogue ?? Catalogue(apps: [:]))
        let list = try CustomerList(path: file, ifWrong: "nothing was changed")
        let names = try list.head.filter { $0 != list.namingColumn }.map(factName)
        guard !names.isEmpty else {
            throw CommandError("\(file) has no column with a fact", hint: "add a column with the name of the fact")
        }
        var count = 0
        try forEachBatch(of: list, names) { count += $0.count }
        try await ConsoleAudit.record(
            .facts, about: "\(count) customers", item: CatalogueItem(app: scope.bundleID), configuration)
        try await options.withStore { store in
            var progress = Progress()
            var done = 0
            var reader = try list.reader()
            while let batch = try batch(of: list, &reader, names) {
                try await store.setTeamFacts(
                    batch, in: scope, tracking: settings.tracked, at: Timestamp(.now))
                done += batch.count
                progress.report("\(done) of \(count) customers")
            }
        }
        StandardStreams.printError("ok: facts of \(count) customers\n")
    }

    private func factName(_ text: String) throws -> FieldText {
        do {
            return try FieldText(
                utf8: Array(text.utf8), field: "The name of a fact", sizes: 1...TeamFact.maximumNameSize)
        } catch { throw CommandError("a column of \(file): \(error)", hint: "rename the column") }
    }

    private func forEachBatch(
        of list: CustomerList, _ names: [FieldText], _ body: ([TeamFactStatement]) -> Void
    ) throws {
        var reader = try list.reader()
        while let batch = try batch(of: list, &reader, names) { body(batch) }
    }

    /// - Returns: nil after the last customer.
    private func batch(
        of list: CustomerList, _ reader: inout CSVReader, _ names: [FieldText]
    ) throws -> [TeamFactStatement]? {
        var batch: [TeamFactStatement] = []
        while batch.count < Self.batchSize, let (values, customer) = try list.next(&reader) {
            let cells = zip(list.head, values).filter { $0.0 != list.namingColumn }.map(\.1)
            var facts: [FieldText: TeamFactValue?] = [:]
            for (name, cell) in zip(names, cells) {
                facts.updateValue(try value(cell, of: name, line: reader.line), forKey: name)
            }
            batch.append(TeamFactStatement(customer, facts))
        }
        return batch.isEmpty ? nil : batch
    }

    private func value(_ cell: String, of name: FieldText, line: Int) throws -> TeamFactValue? {
        do { return try CustomerFactsRequest.value(ofCell: cell) } catch {
            throw CommandError(
                "line \(line) of \(file): \(name): \(error)", hint: "shorten the value; nothing was changed")
        }
    }
}
