import ArgumentParser
import OfferCore
import OfferEligibility

/// The identifier of a customer: exactly one of these options.
struct CustomerOptions: ParsableArguments {
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

    private var identifiers: [CustomerIdentifier] {
        [appAccountToken, applicationUsername, appTransactionID, originalTransactionID, transactionID]
            .compactMap(\.self)
    }

    /// The given identifier. ``validate()`` checks that there is exactly one.
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
