import ArgumentParser
import FoundationEssentials
import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferService
import SubscriberStore

/// `offer-signer rules try`: tries new rules on all stored customers.
struct RulesTryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "try",
        abstract:
            "Try new rules on all stored customers, and show who would get which offers and what would change.",
        discussion: """
            Reads every customer of the database, decides by the rules in force and by those of another configuration \
            file, and compares. Nothing is changed or signed, so you can use it while the service runs:

              offer-signer rules try new.yaml --config offers.yaml

            For each offer it prints how many customers get it now, how many would get it, the reasons why the others \
            do not, and a few customers whose result changes. Limits are not counted. With --at, the rules judge today's \
            data as of another time: a date such as 2026-12-24, or a time such as 2026-12-24T18:00:00Z.
            """
    )

    enum Format: String, ExpressibleByArgument, CaseIterable { case text, csv, json }

    @Argument(help: "The configuration file with the new rules.") var newFile: String
    @Option(help: "The time at which to evaluate the rules (default: now).") var at: String?
    @Option(help: "The output format: text, csv or json.") var format = Format.text
    @Option(help: "The number of customers to name for each change, up to 1000.") var sample = 3
    @OptionGroup var options: DatabaseOptions

    func validate() throws {
        guard (0...1000).contains(sample) else { throw ValidationError("--sample must be from 0 to 1000.") }
        guard at == nil || time != nil else {
            throw ValidationError("--at must be a date such as 2026-12-24, or a time such as 2026-12-24T18:00:00Z.")
        }
    }

    private var time: Timestamp? { at.flatMap(Timestamp.init(dateOrTime:)) }

    func run() async throws {
        IdleProcess.begin()
        let runner = RulesDryRunner(
            inForce: try options.configuration().catalogue ?? Catalogue(apps: [:]), new: try newCatalogue(),
            at: time ?? Timestamp(.now), sampleSize: sample, workers: ProcessInfo.processInfo.activeProcessorCount)
        let dryRun = try await options.withStore { store in
            let progress = ProgressLines()
            return try await runner.run(over: store) { progress.report($0) }
        }
        switch format {
        case .text: StandardStreams.print(dryRun.text)
        case .csv: StandardStreams.print(dryRun.csv)
        case .json: StandardStreams.print(String(decoding: dryRun.json, as: UTF8.self) + "\n")
        }
    }

    private func newCatalogue() throws -> Catalogue {
        let text: [UInt8]
        do { text = [UInt8](try Data(contentsOf: URL(filePath: newFile))) } catch {
            throw CommandError("\(newFile.printable) cannot be read", hint: "name a file that exists")
        }
        // Rules do not need the secrets that the file names.
        let (file, problems) = ConfigurationFile.read(text, name: newFile) { _ throws(Diagnostic) in Secret("-") }
        guard problems.isEmpty else { throw ConfigurationError(problems: problems) }
        return file.catalogue ?? Catalogue(apps: [:])
    }
}
