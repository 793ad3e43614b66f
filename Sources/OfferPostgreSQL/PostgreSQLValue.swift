/// The value of a parameter or a column.
package enum PostgreSQLValue: Hashable, Sendable {
    case null
    /// A value of the types `smallint`, `integer` and `bigint`.
    case integer(Int64)
    /// A value of the types `text` and `name`. It cannot contain NUL.
    case text(String)
    /// A value of the type `bytea`.
    case bytes([UInt8])
}

/// The result of a statement.
package struct PostgreSQLResult: Sendable {
    package let columns: [String]
    package let rows: [[PostgreSQLValue]]
    /// The number of rows that the statement changed.
    package let changes: Int
}
