package import OfferCore

/// The links that callers have made between identifiers and accounts.
package struct AccountLinks: Sendable {
    private let links: [CustomerLink]

    package init(_ links: [CustomerLink]) {
        self.links = links.sorted { $0.identifier.precedes($1.identifier) }
    }

    package var isEmpty: Bool { links.isEmpty }

    /// The account that an identifier is linked to.
    package subscript(identifier: CustomerIdentifier) -> Customer? {
        links.first { $0.identifier == identifier }?.account
    }

    /// Returns an account and the other accounts of the same customer. These are the token that a username is linked
    /// to, and the usernames linked to a token.
    package func accounts(same account: Customer) -> Set<Customer> {
        var accounts: Set<Customer> = [account]
        if let token = self[CustomerIdentifier(account)] { accounts.insert(token) }
        for account in accounts { accounts.formUnion(usernames(of: account).map(Customer.applicationUsername)) }
        return accounts
    }

    /// Returns the usernames that are linked to an account.
    package func usernames(of account: Customer) -> [FieldText] {
        links.compactMap { link in
            guard link.account == account, case .applicationUsername(let name) = link.identifier else { return nil }
            return name
        }
    }

    /// Returns the tokens that usernames among these accounts are linked to.
    package func tokens(of accounts: [Customer]) -> [UUIDText] {
        accounts.compactMap { self[CustomerIdentifier($0)] }.compactMap(\.token)
    }

    /// Returns the links to any of these accounts, in the order of their identifiers.
    package func links(to accounts: Set<Customer>) -> [CustomerLink] { links.filter { accounts.contains($0.account) } }
}
