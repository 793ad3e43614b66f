import Foundation
import GRDB

/// A SQLite connection within a transaction.
struct SQLiteDatabase: Database {
    let connection: GRDB.Database

    func change(_ sql: String, _ arguments: [(any ColumnValue)?]) throws -> Int {
        try connection.cachedStatement(sql: sql).execute(arguments: Self.arguments(arguments))
        return connection.changesCount
    }

    func changes(_ sql: String, forEach lists: [[(any ColumnValue)?]]) throws -> [Int] {
        try lists.map { try change(sql, $0) }
    }

    /// Avoids `RETURNING`, which took a tenth of a signature's CPU time because SQLite stores the returned rows in a
    /// table.
    func insertNew(_ sql: String, _ arguments: [(any ColumnValue)?]) throws -> Int64? {
        try change(sql, arguments) > 0 ? connection.lastInsertedRowID : nil
    }

    func send(_ sql: String, _ arguments: [(any ColumnValue)?]) throws { _ = try change(sql, arguments) }

    func rows(_ queries: [Query]) throws -> [[Row]] { try queries.map(rows) }

    private func rows(_ query: Query) throws -> [Row] {
        let cached = try connection.cachedStatement(sql: query.sql)
        // Another process may have added a column to a table, which moves the columns of `*`. SQLite then compiles the
        // statement again, but the names of the cached one stay.
        return try rows(cached, query) ?? rows(connection.makeStatement(sql: query.sql), query) ?? []
    }

    /// - Returns: nil if the statement has other columns than when it was made.
    private func rows(_ statement: GRDB.Statement, _ query: Query) throws -> [Row]? {
        let columns = statement.columnNames
        var rows: [Row] = []
        let cursor = try GRDB.Row.fetchCursor(statement, arguments: Self.arguments(query.arguments))
        while let row = try cursor.next() {
            guard statement.columnCount == columns.count else { return nil }
            rows.append(try Self.row(row, columns))
        }
        return rows
    }

    func forEachRow(_ sql: String, _ body: (Row) throws -> Void) throws {
        let statement = try connection.makeStatement(sql: sql)
        let columns = statement.columnNames
        let cursor = try GRDB.Row.fetchCursor(statement)
        while let row = try cursor.next() { try body(Self.row(row, columns)) }
    }

    /// Always 0, because only one connection writes.
    var shard: Int64 { 0 }

    func overwriting<Result>(_ body: () throws -> Result) throws -> Result {
        try connection.execute(sql: "PRAGMA secure_delete = ON")
        defer { try? connection.execute(sql: "PRAGMA secure_delete = FAST") }
        return try body()
    }

    private static func arguments(_ values: [(any ColumnValue)?]) -> StatementArguments {
        // GRDB converts an array of optional values without a key path for each. A lazy sequence would cost two more
        // calls for each element.
        let converted = values.map { value -> (any DatabaseValueConvertible)? in
            switch value?.stored ?? .null {
            case .null: nil
            case .integer(let value): value
            case .text(let value): value
            case .bytes(let value): Data(value)
            }
        }
        return StatementArguments(converted)
    }

    private static func row(_ row: GRDB.Row, _ columns: [String]) throws -> Row {
        Row(
            columns: columns,
            values: try columns.indices.map { place in
                switch (row[place] as DatabaseValue).storage {
                case .null: .null
                case .int64(let value): .integer(value)
                case .double: throw StoreError.unreadable("number")
                case .string(let value): .text(value)
                case .blob(let value): .bytes(Array(value))
                }
            })
    }
}
