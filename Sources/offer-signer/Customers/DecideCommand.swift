import ArgumentParser
import FoundationEssentials
import Logging
import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferService
import SubscriberSync

/// `offer-signer decide`: shows which offers a customer would get, and why.
struct DecideCommand: AsyncParsableCommand {
    enum Format: String, CaseIterable, ExpressibleByArgument {
        case text, json
    }

    static let configuration = CommandConfiguration(
        commandName: "decide",
        abstract: "Show which offers a customer would get, and why.",
        discussion: """
            Reads the configuration and the database as 'serve' does, even while the service runs. Nothing is signed \
            or reserved, and the App Store is not queried. Name the app, and the customer by one identifier:

              offer-signer decide --bundle-id com.example.app --app-account-token 01234567-89ab-cdef-0123-456789abcdef

            Prints the customer's subscriptions, and for each offer yes or no with every reason. docs/decisions.md \
            explains the reasons. To see everything that is stored about the customer, use 'offer-signer customers \
            show'.
            """
    )

    @Option(
        help: ArgumentHelp("The bundle ID of the app, if there are several.", valueName: "id"),
        transform: BundleID.init(option:))
    var bundleID: BundleID?

    @OptionGroup var customer: CustomerOptions

    @Option(
        help: "The environment, if the customer is known in several: Production, Sandbox, Xcode or LocalTesting.",
        transform: AppStoreEnvironment.init(option:))
    var environment: AppStoreEnvironment?

    @Option(
        help: ArgumentHelp(
            "A product whose offers to decide; may be repeated (default: all products).", valueName: "id"),
        transform: { text in
            do { return try ProductID(utf8: Array(text.utf8)) } catch { throw ValidationError("\(error)") }
        })
    var productID: [ProductID] = []

    @Option(help: "The time at which to evaluate the rules (default: now).") var at: String?
    @Option(help: "The output format: text or json.") var format = Format.text
    @OptionGroup var options: DatabaseOptions

    func validate() throws {
        guard at == nil || time != nil else {
            throw ValidationError("--at must be a date such as 2026-12-24, or a time such as 2026-12-24T18:00:00Z.")
        }
    }

    private var time: Timestamp? { at.flatMap(Timestamp.init(dateOrTime:)) }

    func run() async throws {
        let configuration = try options.configuration()
        let (id, app) = try configuration.app(bundleID)
        let quiet = Logger(label: "offer-signer") { _ in SwiftLogNoOpLogHandler() }
        let decision: CustomerDecision
        do {
            decision = try await options.withStore { store in
                try await CustomerDecision(
                    about: customer.identifier, of: app, id, in: environment,
                    productIDs: productID.isEmpty ? nil : Set(productID),
                    store: CurrentStore(configuration.store, store: store, log: quiet), at: time ?? Timestamp(.now),
                    log: quiet)
            }
        } catch let problem as Problem {
            throw CommandError(
                "no decision is possible: \(problem.detail)",
                hint: problem.code == .environmentNeeded
                    ? "add --environment" : "run offer-signer doctor to find the cause")
        }
        switch format {
        case .text: StandardStreams.print(decision.text)
        case .json: StandardStreams.print(String(decoding: decision.json, as: UTF8.self) + "\n")
        }
    }
}
