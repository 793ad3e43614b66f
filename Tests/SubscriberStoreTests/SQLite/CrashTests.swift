import Foundation
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@Suite("SQLite survives kill -9")
struct CrashTests {
    /// `STORE_KILLS` asks for more.
    private static let kills = ProcessInfo.processInfo.environment["STORE_KILLS"].flatMap { Int($0) } ?? 12

    @Test("after each kill under load, every acknowledged delivery is there, whole and once")
    func kills() async throws {
        let database = try TestDatabase()
        var random = SplitMix64(seed: 9)
        var acknowledged: [String] = []
        for run in 0..<Self.kills {
            acknowledged += try kill(after: Int.random(in: 1...400, using: &random), database, run: run)
            try #require(acknowledged.allSatisfy { !$0.hasPrefix("error") }, "\(acknowledged.suffix(3))")
            try await verify(acknowledged, database)
        }
        #expect(acknowledged.count > Self.kills)
    }

    /// Kills a process that writes.
    /// - Parameter count: the number of acknowledgements to wait for.
    /// - Returns: all acknowledgements that the process gave.
    private func kill(after count: Int, _ database: TestDatabase, run: Int) throws -> [String] {
        let output = database.folder.url.appending(path: "acknowledged-\(run)")
        try Data().write(to: output)
        let process = Process()
        process.executableURL = URL(filePath: Command.offerSigner).deletingLastPathComponent()
            .appending(path: "store-load")
        process.arguments = [database.path, "\(run)"]
        process.standardOutput = try FileHandle(forWritingTo: output)
        try process.run()
        func lines() throws -> [String] {
            try String(contentsOf: output, encoding: .utf8).split(separator: "\n").map(String.init)
        }
        while process.isRunning, try lines().count < count { usleep(1000) }
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        return try lines()
    }

    private func verify(_ acknowledged: [String], _ database: TestDatabase) async throws {
        let store = try database.open()
        #expect(try await store.check() == [])
        let stored: [String] = try database.fetch("SELECT notification_uuid FROM notification")
        #expect(Set(stored).isSuperset(of: acknowledged))
        #expect(Set(stored).count == stored.count)
        let intake = try #require(try await store.intakes().first)
        #expect(intake.notifications == stored.count)
        for table in ["payload", "forward"] {
            #expect(try database.fetch("SELECT count(*) FROM \(table)") == [stored.count], "\(table)")
        }
        #expect(try await store.receivers().map(\.pending) == [stored.count])
        let subscriptions: [Int] = try database.fetch("SELECT count(*) FROM subscription")
        #expect(subscriptions == [intake.subscriptions])
        #expect(try database.fetch("SELECT count(*) FROM fact") == subscriptions.map { $0 * 3 })
        try store.close()
    }
}
