import Foundation
import GRDB
import OfferCore
import StoreTestSupport
import Testing

@testable import SubscriberStore

@Suite("The log of SQLite")
struct CheckpointTests {
    /// So many changes begin a checkpoint.
    private static let interval = 256
    /// The log at which the writer begins one itself.
    private static let writersLimit = 8192 * 4096

    @Test("it is moved into the database beside the writer")
    func besideWriter() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        let before = try Self.bytes(database.path).count
        try await Self.apply(0..<Self.interval, to: store)
        for _ in 0..<1000 {
            if try Self.bytes(database.path).count > before { break }
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(try Self.bytes(database.path).count > before)
        #expect(try Self.bytes(database.path + "-wal").count < Self.writersLimit)
        try store.close()
        #expect(!FileManager.default.fileExists(atPath: database.path + "-wal"), "closing leaves no log")
    }

    @Test("nothing is left in it when it is emptied while it is being moved")
    func emptied() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        // 20 MB, which take longer to be moved than the next call.
        try await store.pool.write { db in
            try db.execute(sql: "CREATE TABLE filler (bytes BLOB)")
            for _ in 0..<20 { try db.execute(sql: "INSERT INTO filler VALUES (randomblob(1000000))") }
        }
        #expect(try !Self.bytes(database.path + "-wal").isEmpty)
        store.checkpointer.note(changes: Self.interval)
        try await store.checkpointer.empty(through: store.pool)
        #expect(try Self.bytes(database.path + "-wal").isEmpty)
        try store.close()
    }

    private static func apply(_ numbers: Range<Int>, to store: SQLiteStore) async throws {
        for number in numbers {
            #expect(try await store.apply(Sample.delivery("n\(number)", Sample.facts(number))) == .applied)
        }
    }

    private static func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(filePath: path)) }
}
