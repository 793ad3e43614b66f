import ArgumentParser
import OfferCore
import OfferEligibility

/// The identifier of a customer: exactly one of these options.
struct CustomerOptions: ParsableArguments {
    @OptionGroup var options: OptionalCustomerOptions

    /// The given identifier. ``validate()`` checks that there is exactly one.
    var identifier: CustomerIdentifier { options.identifiers[0] }

    func validate() throws {
        guard options.identifiers.count == 1 else { throw ValidationError(Self.advice()) }
    }

    /// - Parameter others: further options that name a customer.
    static func advice(others: [String] = []) -> String {
        let names =
            [
                "--app-account-token", "--application-username", "--app-transaction-id", "--original-transaction-id",
                "--transaction-id",
            ] + others
        return
            "Name the customer by exactly one of \(names.dropLast().joined(separator: ", ")) and \(names.last ?? "")."
    }
}

/// The identifiers of a customer. The command checks how many are given.
struct OptionalCustomerOptions: ParsableArguments {
    @Option(
        name: [.customLong("app-account-token"), .customLong("account-token")],
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
        help: ArgumentHelp("The original transaction ID of a subscription.", valueName: "id"),
        transform: CustomerIdentifier.option(.originalTransactionID))
    var originalTransactionID: CustomerIdentifier?

    @Option(
        help: ArgumentHelp("The ID of any transaction of the customer.", valueName: "id"),
        transform: CustomerIdentifier.option(.transactionID))
    var transactionID: CustomerIdentifier?

    var identifiers: [CustomerIdentifier] {
        [appAccountToken, applicationUsername, appTransactionID, originalTransactionID, transactionID]
            .compactMap(\.self)
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
