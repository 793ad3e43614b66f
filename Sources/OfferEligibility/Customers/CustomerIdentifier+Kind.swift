package import OfferCore

extension CustomerIdentifier {
    /// The kinds of identifiers. The raw values are JSON member names and, in kebab case, option names.
    package enum Kind: String, CaseIterable, Hashable, Sendable {
        case appAccountToken
        case applicationUsername
        case appTransactionID
        case originalTransactionID
        case transactionID

        package static let names = allCases.map(\.rawValue)
    }

    /// - Parameters:
    ///   - utf8: the text of the identifier. A username must not be empty, because an empty one names no customer. A
    ///     username that is a UUID becomes an `appAccountToken`; see ``Customer/account``.
    ///   - field: the name of the field in errors.
    package init(_ kind: Kind, utf8: [UInt8], field: String) throws(FieldError) {
        switch kind {
        case .appAccountToken:
            guard let token = UUIDText(parsing: utf8) else { throw FieldError(field: field, reason: .notUUID) }
            self = .appAccountToken(token)
        case .applicationUsername:
            self = CustomerIdentifier(
                .applicationUsername(try FieldText(utf8: utf8, field: field, sizes: 1...512)))
        case .appTransactionID: self = .appTransactionID(try TransactionID(utf8: utf8, field: field))
        case .originalTransactionID: self = .originalTransactionID(try TransactionID(utf8: utf8, field: field))
        case .transactionID: self = .transactionID(try TransactionID(utf8: utf8, field: field))
        }
    }

    package var kind: Kind {
        switch self {
        case .appAccountToken: .appAccountToken
        case .applicationUsername: .applicationUsername
        case .appTransactionID: .appTransactionID
        case .originalTransactionID: .originalTransactionID
        case .transactionID: .transactionID
        }
    }

    /// The text of the identifier.
    package var utf8: [UInt8] {
        switch self {
        case .appAccountToken(let token): token.utf8
        case .applicationUsername(let name): name.utf8
        case .appTransactionID(let id), .originalTransactionID(let id), .transactionID(let id): id.text.utf8
        }
    }
}

extension CustomerIdentifier {
    /// Orders identifiers by the name of their kind, then by their bytes.
    package func precedes(_ other: CustomerIdentifier) -> Bool {
        guard kind == other.kind else { return kind.rawValue < other.kind.rawValue }
        return utf8.lexicographicallyPrecedes(other.utf8)
    }
}

extension JSONWriter {
    /// Writes an identifier under the name of its kind.
    package mutating func member(_ identifier: CustomerIdentifier) {
        member(identifier.kind.rawValue, utf8: identifier.utf8)
    }
}
