import Foundation
import NIOConcurrencyHelpers
import TestSupport
import Testing

@testable import OfferSQLite

@Suite("SQLite connections")
struct SQLiteConnectionTests {
    private let folder: TemporaryFolder
    private let connection: SQLiteConnection

    init() throws {
        folder = try TemporaryFolder()
        connection = try SQLiteConnection(path: folder.path + "/test.sqlite")
        try connection.execute("CREATE TABLE item (id INTEGER PRIMARY KEY, value ANY)")
    }

    private func insert(_ bind: (SQLiteStatement) throws -> Void) throws {
        let statement = try connection.statement("INSERT INTO item (value) VALUES (?)")
        try bind(statement)
        try statement.run()
    }

    @Test("values come back as they were stored, including empty ones, and a forgotten parameter is NULL")
    func values() throws {
        try insert { try $0.bind(Int64.min, at: 1) }
        try insert { try $0.bind("", at: 1) }
        try insert { try $0.bind("a\u{0}é\u{2063}", at: 1) }
        try insert { try $0.bind([UInt8](), at: 1) }
        try insert { try $0.bind([0, 255], at: 1) }
        try insert { try $0.bindNull(at: 1) }
        try insert { _ in }
        #expect(connection.lastInsertedRowID == 7 && connection.changes == 1)
        let statement = try connection.statement("SELECT value, typeof(value) AS type FROM item ORDER BY id")
        defer { statement.reset() }
        #expect(statement.columnNames == ["value", "type"])
        #expect(try statement.step() && statement.type(at: 0) == .integer && statement.integer(at: 0) == .min)
        #expect(try statement.step() && statement.type(at: 0) == .text && statement.text(at: 0) == "")
        #expect(try statement.step() && statement.text(at: 0) == "a\u{0}é\u{2063}")
        #expect(try statement.step() && statement.type(at: 0) == .bytes && statement.bytes(at: 0) == [])
        #expect(try statement.step() && statement.bytes(at: 0) == [0, 255])
        #expect(try statement.step() && statement.type(at: 0) == .null && statement.text(at: 1) == "null")
        #expect(try statement.step() && statement.type(at: 0) == .null)
        #expect(try !statement.step())
    }

    @Test("a transaction and a savepoint keep all of their changes or none")
    func transactions() throws {
        struct Failure: Error {}
        #expect(throws: Failure.self) {
            try connection.transaction(.immediate) {
                try insert { try $0.bind(1, at: 1) }
                throw Failure()
            }
        }
        #expect(!connection.isInTransaction)
        try connection.transaction(.immediate) {
            try insert { try $0.bind(2, at: 1) }
            #expect(throws: Failure.self) {
                try connection.savepoint {
                    try insert { try $0.bind(3, at: 1) }
                    throw Failure()
                }
            }
            try connection.savepoint { try insert { try $0.bind(4, at: 1) } }
            #expect(connection.isInTransaction)
        }
        #expect(try connection.integers("SELECT value FROM item ORDER BY id") == [2, 4])
    }

    @Test("an error says what a caller can do, and the connection goes on")
    func errors() throws {
        let other = try SQLiteConnection(path: folder.path + "/test.sqlite")
        try other.execute("BEGIN IMMEDIATE")
        #expect(cause { try connection.execute("BEGIN IMMEDIATE") } == .busy)
        try other.execute("ROLLBACK")
        #expect(cause { try connection.execute("nonsense") } == .other)
        #expect(cause { _ = try connection.prepare("DELETE FROM item; DROP TABLE item") } == .other)
        #expect(cause { _ = try SQLiteConnection(path: folder.path) } == .unreachable)
        #expect(cause { _ = try SQLiteConnection(path: folder.path + "/none.sqlite", .readOnly) } == .unreachable)
        let reader = try SQLiteConnection(path: folder.path + "/test.sqlite", .readOnly)
        #expect(cause { try reader.execute("DELETE FROM item") } == .readOnly)
        try folder.write(Array(repeating: 65, count: 4096), to: "noise.sqlite")
        let noise = try SQLiteConnection(path: folder.path + "/noise.sqlite")
        #expect(cause { _ = try noise.integers("SELECT 1 FROM sqlite_schema") } == .corrupt)
        try insert { try $0.bind(1, at: 1) }
        #expect(cause { try connection.execute("INSERT INTO item (id) VALUES (1)") } == .other)
        connection.close()
        #expect(cause { _ = try connection.statement("SELECT 1") } == .other)
        #expect(!connection.isInTransaction)
    }

    private func cause(of body: () throws -> Void) -> SQLiteError.Cause? {
        do {
            try body()
            return nil
        } catch {
            return (error as? SQLiteError)?.cause
        }
    }

    @Test("functions and traces of the program are called")
    func functions() throws {
        try connection.addFunction("reversed") { $0.isEmpty ? nil : $0.reversed() }
        #expect(try connection.texts("SELECT hex(reversed('ab'))") == ["6261"])
        #expect(try connection.integers("SELECT reversed('') IS NULL AND reversed(NULL) IS NULL") == [1])
        let lines = NIOLockedValueBox([String]())
        connection.traceStatements { line in lines.withLockedValue { $0.append(line) } }
        try connection.execute("SELECT 1; DELETE FROM item")
        #expect(lines.withLockedValue { $0 } == ["SELECT 1;", "DELETE FROM item"])
    }

    @Test("a reader sees one moment, while the writer goes on, and none reads after the pool is closed")
    func pool() throws {
        let pool = try SQLitePool(path: folder.path + "/test.sqlite", lockTimeout: 50) { connection in
            try connection.execute("PRAGMA foreign_keys = ON")
        }
        let count = "SELECT count(*) FROM item"
        let counts = try pool.read { first -> [[Int64]] in
            let before = try first.integers(count)
            try pool.write { try $0.execute("INSERT INTO item (value) VALUES (1)") }
            let ofSecond = try pool.read { try $0.integers(count) + $0.integers("PRAGMA foreign_keys") }
            let ofLog = cause { try pool.write { try $0.truncateLog(waitingForReaders: 1) } }
            #expect(ofLog == .busy)
            return [before, try first.integers(count), ofSecond]
        }
        #expect(counts == [[0], [0], [1, 1]])
        try pool.write { try $0.truncateLog(waitingForReaders: 1) }
        #expect(try Data(contentsOf: URL(filePath: pool.path + "-wal")).isEmpty)
        let ofChange = cause { try pool.read { try $0.execute("DELETE FROM item") } }
        #expect(ofChange == .readOnly)
        pool.close()
        let ofReading = cause { try pool.read { _ in } }
        let ofWriting = cause { try pool.write { try $0.execute("SELECT 1") } }
        #expect(ofReading == .other && ofWriting == .other)
    }
}
