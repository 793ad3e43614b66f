import OfferCore
import OfferEligibility

/// An identifier as stored in two columns: a kind and bytes. Databases store the kinds, so they must not change.
///
/// An account named by facts about a consumable has its own kind. A customer may buy thousands of consumables, which
/// must not hide a subscription.
struct StoredIdentifier {
    let kind: Int
    let value: [UInt8]

    init(_ identifier: CustomerIdentifier) {
        switch identifier {
        case .appAccountToken(let token): (kind, value) = (1, token.bytes)
        case .applicationUsername(let name): (kind, value) = (2, Array(name.utf8))
        case .appTransactionID(let id): (kind, value) = (3, Array(id.text.utf8))
        case .originalTransactionID(let id): (kind, value) = (4, Array(id.text.utf8))
        case .transactionID(let id): (kind, value) = (5, Array(id.text.utf8))
        }
    }

    init(_ customer: RecordedCustomer) {
        switch customer {
        case .customer(let identifier): self.init(identifier)
        case .erased(let value): self.init(kind: Self.erasedKind, value: value)
        }
    }

    /// The customer of a record, who may be erased.
    func recordedCustomer() throws -> RecordedCustomer {
        kind == Self.erasedKind ? .erased(value) : .customer(try identifier())
    }

    /// The identifier with the kind for consumables.
    var ofConsumable: StoredIdentifier { StoredIdentifier(kind: kind + Self.consumable, value: value) }

    /// The number added to the kind for consumables.
    private static let consumable = 10

    /// The kind of an erased customer. The value identifies no one: it is random, or an HMAC in the ledger.
    static let erasedKind = 0

    /// Returns random bytes in place of an erased customer's identifier.
    static func erased() -> StoredIdentifier {
        var random = SystemRandomNumberGenerator()
        return StoredIdentifier(kind: erasedKind, value: (0..<16).map { _ in random.next() })
    }

    static func isOfConsumable(kind: Int) -> Bool { kind > consumable }

    init(kind: Int, value: [UInt8]) {
        self.kind = kind
        self.value = value
    }

    func identifier() throws -> CustomerIdentifier {
        do {
            switch kind % Self.consumable {
            case 1:
                guard let token = UUIDText(bytes: value) else { throw StoreError.unreadable("appAccountToken") }
                return .appAccountToken(token)
            case 2:
                let name = try FieldText(utf8: value, field: "identifier", sizes: 0...512)
                return CustomerIdentifier(.applicationUsername(name))
            case 3: return .appTransactionID(try TransactionID(utf8: value))
            case 4: return .originalTransactionID(try TransactionID(utf8: value))
            case 5: return .transactionID(try TransactionID(utf8: value))
            default: throw StoreError.unreadable("kind")
            }
        } catch {
            throw StoreError.unreadable("identifier")
        }
    }
}
