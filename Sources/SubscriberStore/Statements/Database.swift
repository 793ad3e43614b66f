/// A database connection within a transaction. Its statements have the same meaning in every engine.
///
/// With a database on another machine, each call that returns a result waits for one round trip. ``rows(_:)`` and
/// ``changes(_:forEach:)`` execute several statements in one round trip. ``send(_:_:)`` needs no round trip.
package protocol Database {
    /// Executes a statement that changes rows.
    /// - Parameter sql: a constant, which stays prepared. Its parameters are `?`, or `?1`, `?2` and so on if a
    ///   parameter occurs twice.
    /// - Returns: the number of rows changed.
    func change(_ sql: String, _ arguments: [(any ColumnValue)?]) throws -> Int

    /// Executes a statement that changes rows once for each list of arguments, in order.
    /// - Returns: the number of rows that each execution changed.
    func changes(_ sql: String, forEach lists: [[(any ColumnValue)?]]) throws -> [Int]

    /// Inserts a row into a table with the column `id`.
    /// - Returns: the `id` of the row; nil if the row exists and the statement does not change it.
    func insertNew(_ sql: String, _ arguments: [(any ColumnValue)?]) throws -> Int64?

    /// Executes a statement that changes rows, before all later statements. If it fails, a later call may throw its
    /// error, or the commit may fail.
    func send(_ sql: String, _ arguments: [(any ColumnValue)?]) throws

    /// Executes several statements, each of which returns few rows, in one round trip.
    /// - Returns: the rows of each statement.
    func rows(_ queries: [Query]) throws -> [[Row]]

    /// Passes each row to `body` as it is read, so their number is not limited. `body` may execute other statements.
    func forEachRow(_ sql: String, _ body: (Row) throws -> Void) throws

    /// The number, starting at 0, of the counter rows to which this connection adds.
    var shard: Int64 { get }

    /// Runs `body` so that the data it deletes cannot be read from the file, if the engine supports that.
    func overwriting<Result>(_ body: () throws -> Result) throws -> Result
}

/// A statement that returns rows.
package struct Query {
    let sql: String
    let arguments: [(any ColumnValue)?]

    /// - Parameter sql: as for ``Database/change(_:_:)``.
    init(_ sql: String, _ arguments: [(any ColumnValue)?]) {
        self.sql = sql
        self.arguments = arguments
    }
}

extension Database {
    func rows(_ sql: String, _ arguments: [(any ColumnValue)?]) throws -> [Row] {
        try rows([Query(sql, arguments)]).first ?? []
    }

    /// Returns the rows for each list of arguments.
    func rows(_ sql: String, forEach lists: [[(any ColumnValue)?]]) throws -> [[Row]] {
        try rows(lists.map { Query(sql, $0) })
    }

    /// Returns the first row; nil if there is none.
    func row(_ sql: String, _ arguments: [(any ColumnValue)?]) throws -> Row? { try rows(sql, arguments).first }

    /// Returns the first column of the first row; nil if there is no row, or if the column is NULL.
    func number(_ sql: String, _ arguments: [(any ColumnValue)?]) throws -> Int64? {
        guard let value = try row(sql, arguments)?.values.first else { return nil }
        return try Int64(value)
    }

    /// Inserts a row that is known to be new, and returns its `id`.
    func insert(_ sql: String, _ arguments: [(any ColumnValue)?]) throws -> Int64 {
        guard let id = try insertNew(sql, arguments) else { throw StoreError(.fault, "nothing was inserted") }
        return id
    }
}
