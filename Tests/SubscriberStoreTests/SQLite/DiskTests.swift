import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@Suite("SQLite on failing disks", .serialized)
struct DiskTests {
    @Test("a full disk refuses deliveries, loses none that was acknowledged, and recovers when there is space")
    func diskFull() async throws {
        let disk = try SmallDisk(megabytes: 8)
        try disk.fill(megabytes: 4)
        let store = try SQLiteStore(SQLiteSettings(path: disk.path + "/store.sqlite"))
        let body = String(repeating: "x", count: 20_000)
        var acknowledged: [String] = []
        var refusal: StoreError?
        for number in 0..<1000 where refusal == nil {
            refusal = await store.failure(applying: Sample.delivery("n\(number)", Sample.facts(number), body: body))
            if refusal == nil { acknowledged.append("n\(number)") }
        }
        #expect(refusal?.kind == .diskFull && refusal?.isRetryable == true)
        // Larger than the one refused, so it needs more pages whatever is left on the disk.
        let larger = Sample.delivery("m", Sample.facts(1001), body: body + body)
        #expect(await store.failure(applying: larger) != nil)
        let failure = await #expect(throws: StoreError.self) { try await store.probe() }
        #expect(failure?.kind == .diskFull, "a change of one page may still succeed")
        #expect(try await store.customer(Sample.account(0)) != nil, "reading goes on")
        #expect(try await store.intakes().first?.notifications == acknowledged.count)
        try disk.free()
        try await store.probe()
        let pruned = try await store.prunePayloads(receivedBefore: Sample.day(1), limit: 20)
        #expect(pruned == 20)
        #expect(await store.failure(applying: larger) == nil)
        #expect(try await store.check() == [])
        for number in acknowledged.indices {
            let outcome = try await store.apply(Sample.delivery("n\(number)", []))
            #expect(outcome == .known, "n\(number)")
        }
        try store.close()
    }

    @Test("a store cannot be created on a full disk, but can once there is space")
    func createdOnFullDisk() async throws {
        let disk = try SmallDisk(megabytes: 2)
        try disk.fill(megabytes: 2)
        let settings = SQLiteSettings(path: disk.path + "/store.sqlite")
        let error = #expect(throws: StoreError.self) { _ = try SQLiteStore(settings) }
        #expect(error?.isRetryable == true, "\(String(describing: error))")
        try disk.free()
        let store = try SQLiteStore(settings)
        #expect(try await store.apply(Sample.delivery("n1", Sample.facts(1))) == .applied)
        try store.close()
    }

    @Test("a disk that becomes read-only refuses deliveries and recovers")
    func readOnly() async throws {
        let disk = try SmallDisk(megabytes: 8)
        let settings = SQLiteSettings(path: disk.path + "/store.sqlite")
        try SQLiteStore(settings).close()
        try disk.setReadOnly(true)
        let error = #expect(throws: StoreError.self) { _ = try SQLiteStore(settings) }
        #expect(error?.kind == .readOnly, "\(String(describing: error))")
        try disk.setReadOnly(false)
        let store = try SQLiteStore(settings)
        #expect(try await store.apply(Sample.delivery("n1", Sample.facts(1))) == .applied)
        try store.close()
    }

    @Test("a file that no one may change refuses deliveries and recovers")
    func immutable() async throws {
        let database = try TestDatabase()
        try database.open().close()
        #expect(try Command.run("chattr", ["+i", database.path]).status == 0)
        let error = #expect(throws: StoreError.self) { _ = try database.open() }
        #expect(try Command.run("chattr", ["-i", database.path]).status == 0)
        #expect(error?.isRetryable == true, "\(String(describing: error))")
        #expect(try await database.open().apply(Sample.delivery("n1", Sample.facts(1))) == .applied)
    }

    @Test("a lock of another process refuses deliveries, not reads, until it is released")
    func locked() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        _ = try await store.apply(Sample.delivery("n1", Sample.facts(1)))
        let lock = try await onOwnThread { try DatabaseLock(database.path) }
        let error = await store.failure(applying: Sample.delivery("n2", Sample.facts(2)))
        #expect(error?.kind == .busy && error?.isRetryable == true)
        #expect(try await store.customer(Sample.account(1)) != nil)
        try lock.release()
        #expect(try await store.apply(Sample.delivery("n2", Sample.facts(2))) == .applied)
    }
}
