import OfferCore
import OfferEligibility

/// The body of `PUT /v1/customers/links`: an identifier and the account that it belongs to.
///
/// The identifier is one of the App Store's, or an `applicationUsername` to link to an `appAccountToken`. The account
/// is an `appAccountToken` or an `applicationUsername`; null undoes the link.
struct CustomerLinkRequest {
    let customer: CustomerReference
    /// nil undoes the link.
    let account: Customer?

    init(_ members: JSONObject) throws(Problem) {
        do throws(MemberError) {
            let reader = MemberReader(members)
            try reader.refuseOthers(than: Set(CustomerIdentifier.Kind.names + ["bundleID", "environment"]))
        } catch {
            throw Problem(error)
        }
        let (identifier, account) = try Self.kinds(in: members)
        do throws(MemberError) {
            let reader = MemberReader(members)
            customer = CustomerReference(
                bundleID: try reader.field("bundleID", BundleID.init), identifier: try reader.identifier(identifier),
                environment: try reader.environment())
            self.account = members[account.rawValue] == .null ? nil : try reader.identifier(account).account
        } catch {
            throw Problem(error)
        }
    }

    private typealias Kind = CustomerIdentifier.Kind

    private static let anonymous: [Kind] = [.appTransactionID, .originalTransactionID, .transactionID]
    private static let accounts: [Kind] = [.appAccountToken, .applicationUsername]

    /// Determines from the member names which one is the identifier and which is the account.
    private static func kinds(in members: JSONObject) throws(Problem) -> (identifier: Kind, account: Kind) {
        let identifiers = present(anonymous, in: members)
        guard let identifier = identifiers.first else {
            guard members[Kind.applicationUsername.rawValue] != nil else {
                throw .missingOne(of: anonymous.map(\.rawValue))
            }
            guard members[Kind.appAccountToken.rawValue] != nil else {
                throw .missingField(Kind.appAccountToken.rawValue)
            }
            return (.applicationUsername, .appAccountToken)
        }
        guard identifiers.count == 1 else {
            throw .conflictingFields(identifier.rawValue, identifiers[1].rawValue)
        }
        let accounts = present(accounts, in: members)
        guard let account = accounts.first else { throw .missingOne(of: Self.accounts.map(\.rawValue)) }
        guard accounts.count == 1 else { throw .conflictingFields(account.rawValue, accounts[1].rawValue) }
        return (identifier, account)
    }

    private static func present(_ kinds: [Kind], in members: JSONObject) -> [Kind] {
        kinds.filter { members[$0.rawValue] != nil }
    }
}
