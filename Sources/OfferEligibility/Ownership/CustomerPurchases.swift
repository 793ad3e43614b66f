package import OfferCore

/// The purchases that count for one customer.
///
/// No other type decides which purchases count. A store may read more of them; this type ignores the excess.
///
/// - For an account, these are the purchases that it owns and the anonymous purchases of their Apple Accounts.
/// - For an Apple Account, these are the purchases that name it. A purchase's identifier selects its Apple Account.
/// - Purchases in proofs also count, together with the purchases of the same Apple Account that no other account owns.
///
/// The search never goes from one Apple Account through an account to another Apple Account. Otherwise, one purchase
/// with another person's token would lead to that person's purchases.
package struct CustomerPurchases: Sendable {
    /// The purchase that the identifier names comes first, then the lowest `originalTransactionId`.
    package let purchases: [OwnedPurchase]
    /// The accounts of the requested customer, or those that own the requested purchase. Empty for an Apple Account
    /// that is not linked.
    package let accounts: Set<Customer>
    private let links: AccountLinks
    private let identifier: CustomerIdentifier?
    private let proven: Set<TransactionID>

    /// - Parameters:
    ///   - facts: facts about any purchases. Facts that do not count for the customer are ignored.
    ///   - identifier: the requested identifier; nil if only proofs identify the customer.
    ///   - proven: the purchases in proofs. Check first with ``isAnothers(_:of:in:links:by:)`` that no other customer
    ///     owns one.
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

    /// The account of the customer; nil if there is none or several. A username linked to a token is the same account.
    var onlyAccount: Customer? {
        let first = accounts.min { CustomerIdentifier($0).precedes(CustomerIdentifier($1)) }
        return first.flatMap { accounts.isSubset(of: links.accounts(same: $0)) ? $0 : nil }
    }

    /// The accounts, Apple Accounts and subscriptions that hold a reservation for the customer. A purchase of another
    /// account holds one only if it is in the proofs. It then gets no second offer through the other account.
    package var holders: [CustomerIdentifier] {
        var holders = ownHolders
        holders += appleAccounts.map(CustomerIdentifier.appTransactionID)
        if case .appTransactionID(let id)? = identifier, !appleAccounts.contains(id) {
            holders.append(.appTransactionID(id))
        }
        return holders
    }

    /// The accounts and subscriptions among the ``holders``. Other persons with the same Apple Account have others.
    package var ownHolders: [CustomerIdentifier] {
        let own = purchases.filter { purchase in
            purchase.isAnonymous || proven.contains(purchase.original) || purchase.belongs(toAnyOf: accounts)
        }
        return accounts.map(CustomerIdentifier.init)
            + own.filter(\.isSubscription).map { .originalTransactionID($0.original) }
    }

    /// The identifiers whose team facts count for the customer.
    package var names: Set<CustomerIdentifier> {
        var names = Set(accounts.map(CustomerIdentifier.init)).union([identifier].compactMap(\.self))
        for purchase in purchases { names.formUnion(purchase.names) }
        // Without an account, other identifiers linked to a purchase's owner may belong to another Apple Account.
        if identifier?.account != nil { names.formUnion(links.links(to: accounts).map(\.identifier)) }
        return names
    }

    /// Returns true if another customer owns one of the purchases.
    ///
    /// Signed data contains no usernames. A username and a token count as different customers only if one of them is
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
