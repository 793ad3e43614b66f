import OfferCore

/// A row of a query result.
package struct Row: Sendable {
    /// The column names in the order of ``values``. If a name occurs twice, the first column counts.
    let columns: [String]
    let values: [StoredValue]

    /// The value of a column; nil if it is NULL.
    subscript<Value: ColumnValue>(_ column: String) -> Value? {
        get throws {
            guard let place = columns.firstIndex(of: column) else { throw StoreError(.fault, "no column \(column)") }
            do { return try Value(values[place]) } catch { throw StoreError.unreadable(column) }
        }
    }

    /// The value of a column that is never NULL.
    subscript<Value: ColumnValue>(_ column: String) -> Value {
        get throws {
            guard let value: Value = try self[column] else { throw StoreError.unreadable(column) }
            return value
        }
    }
}

extension Row {
    func time(_ column: String) throws -> Timestamp? { try self[column].map(Timestamp.init(milliseconds:)) }

    func requiredTime(_ column: String) throws -> Timestamp { Timestamp(milliseconds: try self[column]) }

    func transactionID(_ column: String) throws -> TransactionID {
        do { return try TransactionID(utf8: Array((self[column] as String).utf8)) } catch {
            throw StoreError.unreadable(column)
        }
    }

    func text(_ column: String, maximumSize: Int) throws -> FieldText {
        do {
            return try FieldText(utf8: Array((self[column] as String).utf8), field: column, sizes: 1...maximumSize)
        } catch {
            throw StoreError.unreadable(column)
        }
    }
}

extension TransactionID {
    var string: String { text.description }
}
