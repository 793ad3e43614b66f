import OfferCore
import OfferCrypto
import OfferEligibility

/// The key of the HMACs under which the ledger remembers erased identifiers, and from which links of campaigns get their IDs.
///
/// An HMAC identifies later reports of the App Store: the rest of an offer of several months, and the redemption of a
/// signature issued before the erasure. The key never leaves the database, and an export contains neither the key nor
/// these HMACs. It contains the IDs of links, which are 8 bytes of other HMACs under the key.
struct ErasureKey {
    private let key: [UInt8]

    init(_ db: any Database) throws {
        guard let row = try db.row("SELECT key FROM erasure_key WHERE id = 1", []) else {
            throw StoreError.unreadable("key")
        }
        key = try row["key"]
    }

    /// Returns the code of a customer in a campaign.
    func code(of identifier: CustomerIdentifier, in campaign: String, _ app: Int64) throws -> [UInt8] {
        let stored = StoredIdentifier(identifier)
        // A campaign has no spaces, and 0 keeps it apart from the other use.
        return try HMACSHA256Key(key).code(of: Array("\0\(app) \(campaign) \(stored.kind) ".utf8), stored.value[...])
    }

    func digest(of identifier: CustomerIdentifier, _ app: Int64) throws -> [UInt8] {
        let stored = StoredIdentifier(identifier)
        return try HMACSHA256Key(key).code(of: Array("\(app) \(stored.kind) ".utf8), stored.value[...])
    }
}

/// The ledger's record of an erased subscription.
struct ErasedSubscription {
    let digest: [UInt8]
    /// The latest time at which the next period of a running offer can begin.
    let continuesUntil: Timestamp?

    /// The time after which the App Store no longer tries to collect a payment, so no renewal follows.
    private static let longestRetry = Duration.days(62)

    /// - Parameter facts: all facts about the subscription, before they are erased.
    init(_ original: TransactionID, _ facts: [SubscriberFact], _ app: Int64, _ db: any Database) throws {
        digest = try ErasureKey(db).digest(of: .originalTransactionID(original), app)
        let ends = facts.compactMap { fact -> Timestamp? in
            switch fact.value {
            case .transaction(let purchase), .receiptTransaction(let purchase), .fetchedTransaction(let purchase):
                purchase.expiresDate
            default: nil
            }
        }
        continuesUntil = ends.max().map { $0 + Self.longestRetry }
    }
}
