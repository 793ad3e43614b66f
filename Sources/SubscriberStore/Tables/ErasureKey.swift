import OfferCore
import OfferCrypto
import OfferEligibility

/// The key under which the ledger remembers who is erased: not the identifier, but its HMAC.
///
/// With it, what the App Store reports later is recognised: the rest of an offer of several months, and the redemption of a
/// signature that was handed out before. The key never leaves the database, and an export contains neither.
struct ErasureKey {
    private let key: [UInt8]

    init(_ db: any Database) throws {
        guard let row = try db.row("SELECT key FROM erasure_key WHERE id = 1", []) else {
            throw StoreError.unreadable("key")
        }
        key = try row["key"]
    }

    func digest(of identifier: CustomerIdentifier, _ app: Int64) throws -> [UInt8] {
        let stored = StoredIdentifier(identifier)
        return try HMACSHA256Key(key).code(of: Array("\(app) \(stored.kind) ".utf8), stored.value[...])
    }
}

/// What the ledger remembers of a subscription that is erased.
struct ErasedSubscription {
    let digest: [UInt8]
    /// Until when the next period of a running offer can begin.
    let continuesUntil: Timestamp?

    /// A renewal follows at the latest when the App Store gives up collecting the payment.
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
