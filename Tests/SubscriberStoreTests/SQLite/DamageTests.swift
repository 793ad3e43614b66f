import Foundation
import OfferCore
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@Suite("SQLite refuses damaged and foreign databases")
struct DamageTests {
    @Test("noise in a page is reported, never a crash", arguments: 0..<12 as Range<UInt64>)
    func noise(seed: UInt64) async throws {
        let database = try TestDatabase()
        let store = try database.open()
        for number in 0..<200 { _ = try await store.apply(Sample.delivery("n\(number)", Sample.facts(number))) }
        try store.close()
        var random = SplitMix64(seed: seed)
        // The first page has the header. It is destroyed in the first of these tests only.
        try damage(database, page: seed == 0 ? 0 : Int.random(in: 1..<40, using: &random), &random)
        let error = await failure { () async throws(StoreError) in
            let store = try SQLiteStore(SQLiteSettings(path: database.path))
            let faults = try await store.check()
            #expect(!faults.isEmpty)
            for number in 0..<200 {
                _ = try await store.apply(Sample.delivery("m\(number)", Sample.facts(number, signed: 2)))
            }
        }
        if let error { #expect(error.kind == .corrupt && !error.isRetryable, "\(error)") }
    }

    private func damage(_ database: TestDatabase, page: Int, _ random: inout SplitMix64) throws {
        let file = try FileHandle(forUpdating: URL(filePath: database.path))
        try file.seek(toOffset: UInt64(page * 4096))
        try file.write(contentsOf: (0..<4096).map { _ in UInt8.random(in: 0...255, using: &random) })
        try file.close()
    }

    @Test("a database from a newer version of the program is refused and left alone")
    func newer() async throws {
        let database = try TestDatabase()
        try database.open().close()
        try database.execute("INSERT INTO migration VALUES (99, 'later', '')")
        let before = try Data(contentsOf: URL(filePath: database.path))
        let error = #expect(throws: StoreError.self) { _ = try database.open() }
        #expect(error?.kind == .newerVersion(found: 99, supported: StoreLocation.sqlite(path: "").latestVersion))
        #expect(error?.isRetryable == false)
        #expect(error?.diagnostic.hint.contains("newer version of the program") == true)
        #expect(try Data(contentsOf: URL(filePath: database.path)) == before)
    }

    @Test("the database of another program is refused and left alone")
    func foreign() async throws {
        let database = try TestDatabase()
        try database.execute("CREATE TABLE song (title TEXT)")
        let before = try Data(contentsOf: URL(filePath: database.path))
        let error = #expect(throws: StoreError.self) { _ = try database.open() }
        #expect(error?.kind == .foreign && error?.isRetryable == false)
        #expect(try Data(contentsOf: URL(filePath: database.path)) == before)
    }

    @Test("a file that is no database is refused and left alone")
    func noDatabase() async throws {
        let database = try TestDatabase()
        let text = Data("signing keys of the team, not a database".utf8)
        try text.write(to: URL(filePath: database.path))
        #expect(throws: StoreError.self) { _ = try database.open() }
        #expect(try Data(contentsOf: URL(filePath: database.path)) == text)
    }

    @Test("a folder whose parent does not exist is unreachable")
    func noFolder() throws {
        let error = #expect(throws: StoreError.self) {
            _ = try SQLiteStore(SQLiteSettings(path: "/nonexistent/data/store.sqlite"))
        }
        #expect(error?.kind == .unreachable && error?.isRetryable == true)
    }
}
