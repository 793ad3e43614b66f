/// The value of a parameter or a column.
package enum PostgreSQLValue: Hashable, Sendable {
    case null
    /// Of the types `smallint`, `integer` and `bigint`.
    case integer(Int64)
    /// Of the types `text` and `name`. It cannot contain NUL.
    case text(String)
    /// Of the type `bytea`.
    case bytes([UInt8])
}

/// What a statement has given.
package struct PostgreSQLResult: Sendable {
    package let columns: [String]
    package let rows: [[PostgreSQLValue]]
    /// The number of rows that the statement changed.
    package let changes: Int
}
