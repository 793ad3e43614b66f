import NIOConcurrencyHelpers
import OfferPostgreSQL

/// A PostgreSQL connection within a transaction.
struct PostgreSQLDatabase: Database {
    let connection: PostgreSQLConnection

    func change(_ sql: String, _ arguments: [(any ColumnValue)?]) throws -> Int {
        try connection.execute(NumberedParameters.translated(sql), Self.values(arguments)).changes
    }

    func changes(_ sql: String, forEach lists: [[(any ColumnValue)?]]) throws -> [Int] {
        let sql = NumberedParameters.translated(sql)
        return try connection.execute(lists.map { (sql, Self.values($0)) }).map(\.changes)
    }

    func send(_ sql: String, _ arguments: [(any ColumnValue)?]) throws {
        try connection.send(NumberedParameters.translated(sql), Self.values(arguments))
    }

    func rows(_ queries: [Query]) throws -> [[Row]] {
        try connection.execute(queries.map { (NumberedParameters.translated($0.sql), Self.values($0.arguments)) })
            .map(Self.rows)
    }

    /// The number of rows read at a time. It is small enough that a page of raw payloads fits into memory.
    private static let rowsPerStep = 100

    func forEachRow(_ sql: String, _ body: (Row) throws -> Void) throws {
        try connection.run("DECLARE reading NO SCROLL CURSOR FOR \(sql)")
        while true {
            let rows = Self.rows(try connection.executeOnce("FETCH \(Self.rowsPerStep) FROM reading"))
            for row in rows { try body(row) }
            guard rows.count == Self.rowsPerStep else { return try connection.run("CLOSE reading") }
        }
    }

    func insertNew(_ sql: String, _ arguments: [(any ColumnValue)?]) throws -> Int64? {
        try number("\(sql) RETURNING id", arguments)
    }

    /// A number that two connections can share. Their changes then wait for each other.
    var shard: Int64 { Int64(connection.backend % 64) }

    /// Only runs `body`, because the server decides when to reuse the space of deleted rows.
    func overwriting<Result>(_ body: () throws -> Result) throws -> Result { try body() }

    private static func values(_ arguments: [(any ColumnValue)?]) -> [PostgreSQLValue] {
        arguments.map { argument in
            switch argument?.stored ?? .null {
            case .null: .null
            case .integer(let value): .integer(value)
            case .text(let value): .text(value)
            case .bytes(let value): .bytes(value)
            }
        }
    }

    private static func rows(_ result: PostgreSQLResult) -> [Row] {
        result.rows.map { values in
            Row(
                columns: result.columns,
                values: values.map { value in
                    switch value {
                    case .null: .null
                    case .integer(let value): .integer(value)
                    case .text(let value): .text(value)
                    case .bytes(let value): .bytes(value)
                    }
                })
        }
    }
}

/// The translation of parameters: `?1` becomes `$1`, and parameters `?` become `$1`, `$2` and so on.
enum NumberedParameters {
    private static let known = NIOLockedValueBox<[String: String]>([:])

    static func translated(_ sql: String) -> String {
        known.withLockedValue { known in
            if let translation = known[sql] { return translation }
            let translation = translate(sql)
            known[sql] = translation
            return translation
        }
    }

    private static func translate(_ sql: String) -> String {
        var translation = ""
        var count = 0
        var rest = Substring(sql)
        while let place = rest.firstIndex(of: "?") {
            translation += rest[..<place] + "$"
            rest = rest[rest.index(after: place)...]
            if rest.first?.isNumber != true {
                count += 1
                translation += "\(count)"
            }
        }
        return translation + rest
    }
}
