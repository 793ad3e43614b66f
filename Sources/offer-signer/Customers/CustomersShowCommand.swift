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
        abstract: "Print everything that is known about a customer, as JSON.",
        discussion: """
            Reads the configuration and the database as 'serve' does, even while the service runs, and prints the \
            response of POST /v1/customers/lookup on one line. Name the app, and the customer by one identifier:

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
        let app = try configuration.app(bundleID)
        let body = try await options.withStore { store in
            let stored = try await store.customers(
                known: customer.identifier, bundleID: bundleID, environment: environment)
            return try await CustomerAnswer.body(
                stored, known: customer.identifier, of: app, at: Timestamp(.now), in: store)
        }
        StandardStreams.print(String(decoding: body, as: UTF8.self) + "\n")
    }
}
