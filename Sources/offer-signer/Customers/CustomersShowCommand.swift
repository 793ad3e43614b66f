import AppStoreAPI
import ArgumentParser
import FoundationEssentials
import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferService
import SubscriberStore
import SubscriberSync

/// `offer-signer customers show`: prints the stored data about a customer.
struct CustomersShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Print everything that is known about a customer, as JSON.",
        discussion: """
            Reads the configuration and the database as 'serve' does, even while the service runs, and prints the \
            response of POST /v1/customers/lookup on one line. Name the app, and the customer by one identifier:

              offer-signer customers show --bundle-id com.example.app --transaction-id 2000000123456789

            Customers know the order ID on the receipt that Apple mailed. --order-id looks it up at the App Store, in \
            production, and stores the order's transactions:

              offer-signer customers show --bundle-id com.example.app --order-id MK5TTTVWJH

            Prints an empty list for an unknown customer. docs/customers.md explains every member.
            """
    )

    @Option(
        help: ArgumentHelp("The bundle ID of the app, if there are several.", valueName: "id"),
        transform: BundleID.init(option:))
    var bundleID: BundleID?

    @OptionGroup var customer: OptionalCustomerOptions

    @Option(
        help: ArgumentHelp("The order ID on the customer's receipt.", valueName: "id"),
        transform: OrderNumber.init(option:))
    var orderID: OrderNumber?

    @Option(
        help: "The only environment to look in: Production, Sandbox, Xcode or LocalTesting.",
        transform: AppStoreEnvironment.init(option:))
    var environment: AppStoreEnvironment?

    @OptionGroup var options: DatabaseOptions

    func validate() throws {
        guard (customer.identifiers.count == 1) != (orderID != nil), customer.identifiers.count <= 1 else {
            throw ValidationError(CustomerOptions.advice(others: ["--order-id"]))
        }
        guard orderID == nil || environment ?? .production == .production else {
            throw ValidationError("The App Store looks up orders only in production.")
        }
    }

    func run() async throws {
        let body: [UInt8]
        if let orderID {
            body = try await answer(toOrder: orderID)
        } else {
            let (id, app) = try options.configuration().app(bundleID)
            let identifier = customer.identifiers[0]
            body = try await options.withStore { store in
                try await answer(about: identifier, of: app, id, in: environment, store)
            }
        }
        StandardStreams.print(String(decoding: body, as: UTF8.self) + "\n")
    }

    /// Looks up an order as `POST /v1/customers/lookup` does. Requests to the App Store need a key.
    private func answer(toOrder number: OrderNumber) async throws -> [UInt8] {
        var flags = options.folder.flags
        flags[Settings.database] = options.database
        let configuration = try options.folder.reader(flags).read()
        let (id, app) = try configuration.app(bundleID)
        guard app.environments.contains(.production) else {
            throw CommandError("the app has no data in Production", hint: "the App Store looks up orders only there")
        }
        let scope = AppScope(bundleID: id, environment: .production)
        return try await AppStoreAccess.run(configuration, scope) { asking, store in
            let facts = try await asking.refresh.transactions(ofOrder: number, in: scope).facts
            guard let store, let original = facts.map(\.originalTransactionID).min(by: { $0.precedes($1) }) else {
                return CustomerAnswer.ofUnknownCustomer
            }
            // The order may be old. Alone, it would pass for the present state.
            if let number = TransactionNumber(original) {
                _ = try await asking.refresh.statuses(of: number, in: scope)
            }
            return try await answer(about: .originalTransactionID(original), of: app, id, in: .production, store)
        }
    }

    private func answer(
        about identifier: CustomerIdentifier, of app: Catalogue.App, _ bundleID: BundleID,
        in environment: AppStoreEnvironment?, _ store: any SubscriberStore
    ) async throws -> [UInt8] {
        let stored = try await store.customers(known: identifier, bundleID: bundleID, environment: environment)
        return try await CustomerAnswer.body(
            KnownCustomer.all(stored, known: identifier, of: app, in: store), of: app, at: Timestamp(.now))
    }
}

extension OrderNumber {
    fileprivate init(option text: String) throws {
        guard let number = OrderNumber(text) else {
            throw ValidationError("It must consist of letters and digits.")
        }
        self = number
    }
}
