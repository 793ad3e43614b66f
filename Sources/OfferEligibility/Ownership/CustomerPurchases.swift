package import OfferCore

/// The purchases that count for one customer.
///
/// Only this type decides that. A store may read more; the excess is left out here.
///
/// - An account has the purchases that it owns, and the anonymous purchases of their Apple Accounts.
/// - An Apple Account has the purchases that name it. The identifier of a purchase stands for its Apple Account.
/// - Purchases in proofs count for the request, together with the purchases of the same Apple Account that no other
///   account owns.
///
/// The search never goes from an Apple Account to an account and on to another Apple Account. Otherwise, one purchase with
/// another person's token would lead to that person's purchases.
package struct CustomerPurchases: Sendable {
    /// The purchase that the identifier names comes first, then the lowest `originalTransactionId`.
    package let purchases: [OwnedPurchase]
    /// The requested account with the same customer's other accounts, or the account that owns the requested purchase. Empty
    /// for an Apple Account that is not linked.
    package let accounts: Set<Customer>
    private let links: AccountLinks
    private let identifier: CustomerIdentifier?
    private let proven: Set<TransactionID>

    /// - Parameters:
    ///   - facts: facts about any purchases. Those that do not count for the customer are ignored.
    ///   - identifier: the customer's name; nil if only proofs identify the customer.
    ///   - proven: the purchases that proofs show. No other customer may own one: ``isAnothers(_:of:in:links:by:)``.
    ///   - provenAppleAccount: the Apple Account of the proofs.
    package init(
        of identifier: CustomerIdentifier?, in facts: some Sequence<SubscriberFact>, links: [CustomerLink],
        by policy: OwnershipPolicy, proven: Set<TransactionID> = [], provenAppleAccount: TransactionID? = nil
    ) {
        let links = AccountLinks(links)
        let all = Self.all(in: facts, links, by: policy)
        var accounts: Set<Customer> = []
        var counted: Set<TransactionID> = proven
        var named: Set<TransactionID> = []
        var appleAccounts: Set<TransactionID> = []
        func count(_ isCounted: (OwnedPurchase) -> Bool) {
            for purchase in all where isCounted(purchase) { counted.insert(purchase.original) }
        }
        switch identifier {
        case .appAccountToken?, .applicationUsername?:
            accounts = identifier?.account.map(links.accounts(same:)) ?? []
            let owned = all.filter { $0.belongs(toAnyOf: accounts) }
            appleAccounts = Set(owned.compactMap(\.appleAccount))
            count { purchase in
                purchase.belongs(toAnyOf: accounts)
                    || purchase.isAnonymous && purchase.appleAccount.map(appleAccounts.contains) ?? false
            }
        case .appTransactionID(let id)?:
            accounts = links[.appTransactionID(id)].map(links.accounts(same:)) ?? []
            count { $0.appleAccount == id }
        case .originalTransactionID?, .transactionID?:
            let matches = all.filter { purchase in identifier.map(purchase.isNamed) ?? false }
            named = Set(matches.map(\.original))
            accounts = matches.flatMap(\.owners).reduce(into: []) { $0.formUnion(links.accounts(same: $1)) }
            appleAccounts = Set(matches.compactMap(\.appleAccount))
            counted.formUnion(named)
            count { purchase in purchase.appleAccount.map(appleAccounts.contains) ?? false }
        case nil: break
        }
        let shown = all.filter { proven.contains($0.original) }
        let shownAppleAccounts = Set(shown.compactMap(\.appleAccount)).union([provenAppleAccount].compactMap(\.self))
        // For a username, the proofs may name a token. The Apple Account's purchases under that token count as well.
        let shownAccounts = accounts.union(shown.flatMap(\.owners))
        count { purchase in
            purchase.appleAccount.map(shownAppleAccounts.contains) == true
                && (purchase.isAnonymous || purchase.belongs(toAnyOf: shownAccounts))
        }
        purchases = all.filter { counted.contains($0.original) }
            .sorted { one, other in
                let isFirst = named.contains(one.original)
                return isFirst != named.contains(other.original) ? isFirst : one.original.precedes(other.original)
            }
        self.accounts = accounts
        self.links = links
        self.identifier = identifier
        self.proven = proven
    }

    private static func all(
        in facts: some Sequence<SubscriberFact>, _ links: AccountLinks, by policy: OwnershipPolicy
    ) -> [OwnedPurchase] {
        Dictionary(grouping: facts, by: \.originalTransactionID).map { OwnedPurchase($0, $1, links, by: policy) }
    }

    package var facts: [SubscriberFact] { purchases.flatMap(\.facts) }

    /// The Apple Accounts of the purchases.
    package var appleAccounts: Set<TransactionID> { Set(purchases.compactMap(\.appleAccount)) }

    /// The accounts, the Apple Accounts and the subscriptions that hold a reservation for the customer. A purchase of
    /// another account holds one only if proofs show it, so that it gets no second offer under the other name.
    package var holders: [CustomerIdentifier] {
        let own = purchases.filter { purchase in
            purchase.isAnonymous || proven.contains(purchase.original) || purchase.belongs(toAnyOf: accounts)
        }
        var holders = accounts.map(CustomerIdentifier.init)
        holders += own.filter(\.isSubscription).map { .originalTransactionID($0.original) }
        holders += appleAccounts.map(CustomerIdentifier.appTransactionID)
        if case .appTransactionID(let id)? = identifier, !appleAccounts.contains(id) {
            holders.append(.appTransactionID(id))
        }
        return holders
    }

    /// The identifiers whose team facts count for the customer.
    package var names: Set<CustomerIdentifier> {
        var names = Set(accounts.map(CustomerIdentifier.init)).union([identifier].compactMap(\.self))
        for purchase in purchases { names.formUnion(purchase.names) }
        // Other identifiers linked to the owner of a purchase may belong to another Apple Account.
        if identifier?.account != nil { names.formUnion(links.links(to: accounts).map(\.identifier)) }
        return names
    }

    /// Returns true if one of the purchases belongs to a customer other than the account's.
    ///
    /// A username appears in no signed data. It is a different customer from a token only if the token, or the username, is
    /// linked to another account.
    package static func isAnothers(
        _ originals: Set<TransactionID>, of account: Customer, in facts: some Sequence<SubscriberFact>,
        links: [CustomerLink], by policy: OwnershipPolicy
    ) -> Bool {
        guard !originals.isEmpty else { return false }
        let links = AccountLinks(links)
        let accounts = links.accounts(same: account)
        return all(in: facts, links, by: policy).contains { purchase in
            guard originals.contains(purchase.original), !purchase.isAnonymous,
                !purchase.belongs(toAnyOf: accounts)
            else { return false }
            guard account.username != nil, accounts.count == 1 else { return true }
            return purchase.owners.contains { owner in
                owner.username != nil || !links.usernames(of: owner).isEmpty
            }
        }
    }
}
