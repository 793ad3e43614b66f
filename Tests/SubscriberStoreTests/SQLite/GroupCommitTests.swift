import OfferSQLite
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@Suite("SQLite writes in groups")
struct GroupCommitTests {
    @Test("deliveries that arrive during a commit share the next one")
    func shared() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        #expect(try await applyAll(Array(0..<64), to: store) == 64)
        #expect(store.counts.changes == 64)
        #expect(store.counts.commits < 32)
        #expect(try await store.intakes().first?.notifications == 64)
    }

    @Test("a delivery that fails does not fail the others of its group")
    func savepoints() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        _ = try await store.apply(Sample.delivery("first", Sample.facts(7)))
        try database.execute("UPDATE fact SET kind = 77 WHERE kind = 4")
        #expect(try await applyAll(Array(0..<64), to: store) == 63)
        let error = await store.failure(applying: Sample.delivery("n7", Sample.facts(7)))
        #expect(error?.kind == .unreadable && error?.isRetryable == false)
        #expect(try await store.intakes().first?.notifications == 64)
        #expect(try database.fetch("SELECT count(*) FROM payload") == [64], "nothing of the failed one is left")
    }

    @Test("a group that cannot be committed acknowledges nothing, and the next one goes on")
    func lostGroup() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        let other = try database.connect()
        try other.execute("BEGIN IMMEDIATE")
        #expect(try await applyAll(Array(0..<8), to: store) == 0)
        let busy = await store.failure(applying: Sample.delivery("n9", Sample.facts(9)))
        #expect(busy?.kind == .busy && busy?.isRetryable == true)
        try other.execute("ROLLBACK")
        #expect(try await store.intakes() == [])
        #expect(try await applyAll(Array(0..<8), to: store) == 8)
    }

    /// Applies deliveries at once.
    /// - Returns: how many were applied.
    private func applyAll(_ numbers: [Int], to store: SQLiteStore) async throws -> Int {
        await withTaskGroup(of: Bool.self) { group in
            for number in numbers {
                group.addTask {
                    let delivery = Sample.delivery("n\(number)", Sample.facts(number, signed: 1))
                    return (try? await store.apply(delivery)) == .applied
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
    }
}
