import OfferSQLite

/// A SQLite connection within a transaction.
struct SQLiteDatabase: Database {
    let connection: SQLiteConnection

    func change(_ sql: String, _ arguments: [(any ColumnValue)?]) throws -> Int {
        let statement = try bound(sql, arguments)
        try statement.run()
        return connection.changes
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
        let statement = try bound(query.sql, query.arguments)
        defer { statement.reset() }
        var rows: [Row] = []
        while try statement.step() { rows.append(try Self.row(statement)) }
        return rows
    }

    func forEachRow(_ sql: String, _ body: (Row) throws -> Void) throws {
        // `body` may execute the same statement.
        let statement = try connection.prepare(sql)
        while try statement.step() { try body(Self.row(statement)) }
    }

    /// Always 0, because only one connection writes.
    var shard: Int64 { 0 }

    func overwriting<Result>(_ body: () throws -> Result) throws -> Result {
        try connection.execute("PRAGMA secure_delete = ON")
        defer { try? connection.execute("PRAGMA secure_delete = FAST") }
        return try body()
    }

    private func bound(_ sql: String, _ arguments: [(any ColumnValue)?]) throws -> SQLiteStatement {
        let statement = try connection.statement(sql)
        // SQLite would take the value of a missing argument for NULL.
        guard arguments.count == statement.parameterCount else {
            throw StoreError(.fault, "\(arguments.count) arguments for \(statement.parameterCount) parameters")
        }
        var place: Int32 = 0
        for argument in arguments {
            place += 1
            switch argument?.stored ?? .null {
            case .null: try statement.bindNull(at: place)
            case .integer(let value): try statement.bind(value, at: place)
            case .text(let value): try statement.bind(value, at: place)
            case .bytes(let value): try statement.bind(value, at: place)
            }
        }
        return statement
    }

    private static func row(_ statement: SQLiteStatement) throws -> Row {
        let columns = statement.columnNames
        var values: [StoredValue] = []
        values.reserveCapacity(columns.count)
        for column in 0..<Int32(columns.count) {
            switch statement.type(at: column) {
            case .null: values.append(.null)
            case .integer: values.append(.integer(statement.integer(at: column)))
            case .real: throw StoreError.unreadable("number")
            case .text: values.append(.text(statement.text(at: column)))
            case .bytes: values.append(.bytes(statement.bytes(at: column)))
            }
        }
        return Row(columns: columns, values: values)
    }
}
