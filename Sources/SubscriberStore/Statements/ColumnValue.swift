/// A Swift type for column values.
package protocol ColumnValue: Sendable {
    var stored: StoredValue { get }
    /// - Returns: nil for NULL.
    /// - Throws: a ``StoreError`` for a value of another type, which no version of the program stores.
    init?(_ value: StoredValue) throws(StoreError)
}

/// A value in a database.
package enum StoredValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case text(String)
    case bytes([UInt8])
}

extension Int64: ColumnValue {
    package var stored: StoredValue { .integer(self) }

    package init?(_ value: StoredValue) throws(StoreError) {
        switch value {
        case .integer(let value): self = value
        case .null: return nil
        case .text, .bytes: throw .unreadable("integer")
        }
    }
}

extension Int: ColumnValue {
    package var stored: StoredValue { .integer(Int64(self)) }

    package init?(_ value: StoredValue) throws(StoreError) {
        guard let value = try Int64(value) else { return nil }
        self = Int(value)
    }
}

extension String: ColumnValue {
    package var stored: StoredValue { .text(self) }

    package init?(_ value: StoredValue) throws(StoreError) {
        switch value {
        case .text(let value): self = value
        case .null: return nil
        case .integer, .bytes: throw .unreadable("text")
        }
    }
}

extension [UInt8]: ColumnValue {
    package var stored: StoredValue { .bytes(self) }

    package init?(_ value: StoredValue) throws(StoreError) {
        switch value {
        case .bytes(let value): self = value
        case .null: return nil
        case .integer, .text: throw .unreadable("bytes")
        }
    }
}
