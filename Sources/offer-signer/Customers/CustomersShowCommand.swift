import ArgumentParser
import FoundationEssentials
import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferService
import SubscriberStore

/// `offer-signer customers show`: prints the stored data about a customer.
struct CustomersShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Print everything that is known of a customer, as JSON.",
        discussion: """
            Reads the configuration and the database as 'serve' does, also while the service runs, and prints the answer \
            of POST /v1/customers/lookup on one line. Name the app, and the customer by one identifier:

              offer-signer customers show --bundle-id com.example.app --transaction-id 2000000123456789

            Prints an empty list for an unknown customer. docs/customers.md explains every member.
            """
    )

    @Option(
        help: ArgumentHelp("The bundle ID of the app.", valueName: "id"), transform: BundleID.init(option:))
    var bundleID: BundleID

    @OptionGroup var customer: CustomerOptions

    @Option(
        help: "The only environment to look in: Production, Sandbox, Xcode or LocalTesting.",
        transform: AppStoreEnvironment.init(option:))
    var environment: AppStoreEnvironment?

    @OptionGroup var options: DatabaseOptions

    func run() async throws {
        let configuration = try options.configuration()
        guard let app = configuration.catalogue?.apps[bundleID] else {
            throw CommandError(
                "the configuration file has no app \(bundleID.text.description.printable)",
                hint: "use a bundleID of \(Settings.configurationFile.variable)")
        }
        let body = try await options.withStore { store in
            let stored = try await store.customers(
                known: customer.identifier, bundleID: bundleID, environment: environment)
            return try await CustomerAnswer.body(
                stored, known: customer.identifier, of: app, at: Timestamp(.now), in: store)
        }
        StandardStreams.print(String(decoding: body, as: UTF8.self) + "\n")
    }
}

/// The identifier of a customer: exactly one of these options.
struct CustomerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The account token that the app passes to StoreKit.", valueName: "uuid"),
        transform: CustomerIdentifier.option(.appAccountToken))
    var appAccountToken: CustomerIdentifier?

    @Option(
        help: ArgumentHelp("The username that the app sets on payments.", valueName: "name"),
        transform: CustomerIdentifier.option(.applicationUsername))
    var applicationUsername: CustomerIdentifier?

    @Option(
        help: ArgumentHelp("The Apple Account's identifier within the app.", valueName: "id"),
        transform: CustomerIdentifier.option(.appTransactionID))
    var appTransactionID: CustomerIdentifier?

    @Option(
        help: ArgumentHelp("The first transaction of a subscription.", valueName: "id"),
        transform: CustomerIdentifier.option(.originalTransactionID))
    var originalTransactionID: CustomerIdentifier?

    @Option(
        help: ArgumentHelp("Any transaction of the customer.", valueName: "id"),
        transform: CustomerIdentifier.option(.transactionID))
    var transactionID: CustomerIdentifier?

    private var identifiers: [CustomerIdentifier] {
        [appAccountToken, applicationUsername, appTransactionID, originalTransactionID, transactionID]
            .compactMap(\.self)
    }

    /// ``validate()`` has checked that there is one.
    var identifier: CustomerIdentifier { identifiers[0] }

    func validate() throws {
        guard identifiers.count == 1 else {
            throw ValidationError(
                "Name the customer by exactly one of --app-account-token, --application-username, "
                    + "--app-transaction-id, --original-transaction-id and --transaction-id.")
        }
    }
}

extension CustomerIdentifier {
    fileprivate static func option(_ kind: Kind) -> @Sendable (String) throws -> CustomerIdentifier {
        { text in
            do { return try CustomerIdentifier(kind, utf8: Array(text.utf8), field: "It") } catch {
                throw ValidationError("\(error)")
            }
        }
    }
}
