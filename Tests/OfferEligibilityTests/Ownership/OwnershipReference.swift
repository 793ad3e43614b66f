import OfferCore
import OfferEligibility

/// A second implementation of the rules of ownership and of complete histories, over plain numbers: slow and obvious.
struct OwnershipReference {
    let world: OwnershipWorld

    typealias Account = OwnershipWorld.Account
    typealias Purchase = OwnershipWorld.Purchase

    /// Line 1: a link. Line 2: tokens. Line 3: nobody, so the purchase belongs to its Apple Account.
    func owners(_ purchase: Purchase) -> [Account] {
        if let account = world.links[.purchase(purchase.id)] { return [account] }
        for transaction in purchase.transactions.sorted(by: { "\($0.id)" < "\($1.id)" }) {
            if let account = world.links[.transaction(transaction.id)] { return [account] }
        }
        var tokens: [Int] = []
        for transaction in purchase.transactions.sorted(by: { $0.day < $1.day }) {
            if let token = transaction.token { tokens.append(token) }
        }
        if let first = tokens.first, let last = tokens.last {
            switch world.policy {
            case .first: return [.token(first)]
            case .transfer: return [.token(last)]
            case .share: return Array(Set(tokens)).map { .token($0) }
            }
        }
        if let appleAccount = purchase.appleAccount, let account = world.links[.appleAccount(appleAccount)] {
            return [account]
        }
        return []
    }

    /// All names of the customer of an account.
    func names(_ account: Account) -> [Account] {
        var names = [account]
        if case .username = account, let token = world.links[.account(account)] { names.append(token) }
        for (name, target) in world.links {
            if case .account(let username) = name, names.contains(target), !names.contains(username) {
                names.append(username)
            }
        }
        return names
    }

    func counted() -> Set<Int> {
        var counted = world.proven
        func add(_ isCounted: (Purchase) -> Bool) {
            for purchase in world.purchases where isCounted(purchase) { counted.insert(purchase.id) }
        }
        switch world.asked {
        case .account(let account)?:
            let names = names(account)
            var appleAccounts: [Int] = []
            for purchase in world.purchases where owners(purchase).contains(where: names.contains) {
                counted.insert(purchase.id)
                if let id = purchase.appleAccount { appleAccounts.append(id) }
            }
            add { owners($0).isEmpty && $0.appleAccount.map(appleAccounts.contains) == true }
        case .appleAccount(let id)?: add { $0.appleAccount == id }
        case .purchase(let id)?:
            guard let named = world.purchases.first(where: { $0.id == id }) else { break }
            add { $0.id == id || $0.appleAccount != nil && $0.appleAccount == named.appleAccount }
        case .transaction(let id)?:
            guard let named = world.purchases.first(where: { $0.transactions.contains { $0.id == id } }) else { break }
            add { $0.id == named.id || $0.appleAccount != nil && $0.appleAccount == named.appleAccount }
        case nil: break
        }
        // The proofs bring the rest of their Apple Account along, but for what others own.
        guard let appleAccount = world.provenAppleAccount else { return counted }
        var friends: [Account] = accounts()
        for purchase in world.purchases where world.proven.contains(purchase.id) { friends += owners(purchase) }
        add { purchase in
            let owners = owners(purchase)
            return purchase.appleAccount == appleAccount && (owners.isEmpty || owners.contains(where: friends.contains))
        }
        return counted
    }

    /// The accounts of the customer who is asked about.
    func accounts() -> [Account] {
        switch world.asked {
        case .account(let account)?: return names(account)
        case .appleAccount(let id)?: return world.links[.appleAccount(id)].map(names) ?? []
        case .purchase(let id)?:
            return world.purchases.filter { $0.id == id }.flatMap { owners($0).flatMap(names) }
        case .transaction(let id)?:
            return world.purchases.filter { $0.transactions.contains { $0.id == id } || $0.id == id }
                .flatMap { owners($0).flatMap(names) }
        case nil: return []
        }
    }

    /// Whether a history of a day still counts today: it is a day old, or every notification since then is known.
    private func counts(_ day: Int) -> Bool {
        if OwnershipWorld.today - day <= 1 { return true }
        guard let coverage = world.coverage else { return false }
        return coverage.lowerBound <= day && OwnershipWorld.today - coverage.upperBound <= 1
    }

    /// Whether everything about the counted purchases' Apple Accounts is known.
    func isComplete() -> Bool {
        let ids = counted()
        let purchases = world.purchases.filter { ids.contains($0.id) }
        for purchase in purchases {
            let siblings = purchase.appleAccount.map { id in purchases.filter { $0.appleAccount == id } } ?? [purchase]
            // What follows a purchase without an Apple Account cannot be told from other people's.
            let isFresh = purchase.historyDay.map { OwnershipWorld.today - $0 <= 1 } ?? false
            if purchase.appleAccount == nil && !isFresh { return false }
            if !siblings.contains(where: { $0.historyDay.map(counts) ?? false }) { return false }
        }
        return !purchases.isEmpty
    }

    // MARK: What happened

    var owns: Bool { happened { $0.kind == .lifetime && $0.transactions.contains { !$0.isRefunded } } }
    var refunded: Bool {
        happened {
            ($0.ownership == .purchased || $0.ownership == nil) && $0.transactions.contains(where: \.isRefunded)
        }
    }
    var subscribed: Bool {
        happened { ($0.kind == .subscription || $0.kind == .otherGroup) && $0.ownership == .purchased }
    }

    private func happened(_ test: (Purchase) -> Bool) -> Bool {
        let ids = counted()
        return world.purchases.contains { ids.contains($0.id) && test($0) }
    }
}
