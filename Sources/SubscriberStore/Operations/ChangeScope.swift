import OfferCore
import OfferEligibility

/// The part of the store to which a change needs exclusive access, across all processes.
package enum ChangeScope: Sendable {
    /// Changes that share a name are made one after the other. Changes with several names cannot deadlock.
    case names(Set<LockName>)
    /// No other change is made at the same time.
    case everything

    static let nothing = ChangeScope.names([])
}

extension LockName {
    static func notification(_ id: FieldText, _ app: AppScope) -> LockName {
        LockName("notification", [app.key, Array(id.utf8)])
    }

    static func identifier(_ identifier: CustomerIdentifier, _ app: AppScope) -> LockName {
        let stored = StoredIdentifier(identifier)
        return LockName("identifier", [app.key, Array("\(stored.kind)".utf8), stored.value])
    }

    static func subscription(_ original: TransactionID, _ app: AppScope) -> LockName {
        identifier(.originalTransactionID(original), app)
    }

    static func total(_ productID: ProductID, _ offerID: OfferID, _ app: AppScope) -> LockName {
        LockName("total", [app.key, Array(productID.text.utf8), Array(offerID.text.utf8)])
    }

    static func request(_ id: UUIDText, _ app: AppScope) -> LockName { LockName("request", [app.key, id.utf8]) }

    static func keyed(_ request: IdempotentRequest) -> LockName { LockName("keyed", [request.id]) }

    static func signIn(_ link: [UInt8]) -> LockName { LockName("sign-in", [link]) }

    static func grant(_ id: UUIDText) -> LockName { LockName("grant", [id.utf8]) }

    /// The lock for making grants, so that a person's budget holds.
    static func grants(_ app: AppScope) -> LockName { LockName("grants", [app.key]) }

    /// The lock for requesting reports, so that their number stays limited.
    static let reports = LockName("reports", [])

    static func event(_ nonce: Nonce) -> LockName { LockName("event", [nonce.uuid.utf8]) }

    static func receiver(_ url: String) -> LockName { LockName("receiver", [Array(url.utf8)]) }

    /// The lock for deleting payloads that are not waiting to be forwarded. No other change touches them.
    static let pruning = LockName("pruning", [])

    static func checks(_ app: AppScope) -> LockName { LockName("checks", [app.key]) }
}

extension AppScope {
    fileprivate var key: [UInt8] { Array("\(environment.rawValue) \(bundleID.text)".utf8) }
}

extension ChangeScope {
    /// Returns the lock names for merging facts: those of their subscriptions, accounts and Apple Accounts.
    static func facts(_ facts: [SubscriberFact], _ app: AppScope) -> Set<LockName> {
        var names: Set<LockName> = []
        for fact in facts {
            names.insert(.subscription(fact.originalTransactionID, app))
            for identifier in IdentifierTable.identifiers(in: fact) { names.insert(.identifier(identifier, app)) }
        }
        return names
    }
}
