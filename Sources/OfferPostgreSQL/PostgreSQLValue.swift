/// The value of a parameter or a column.
package enum PostgreSQLValue: Hashable, Sendable {
    case null
    /// A value of type `smallint`, `integer` or `bigint`.
    case integer(Int64)
    /// A value of type `text` or `name`. It cannot contain NUL.
    case text(String)
    /// A value of type `bytea`.
    case bytes([UInt8])
}

/// The result of a statement.
package struct PostgreSQLResult: Sendable {
    package let columns: [String]
    package let rows: [[PostgreSQLValue]]
    /// The number of rows that the statement changed.
    package let changes: Int
}
