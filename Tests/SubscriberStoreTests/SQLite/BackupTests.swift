import Foundation
import NIOConcurrencyHelpers
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@Suite("SQLite backups")
struct BackupTests {
    @Test("a backup made under load is a whole database of one moment")
    func underLoad() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        for number in 0..<300 { _ = try await store.apply(delivery(number)) }
        let path = database.folder.path + "/backup.sqlite"
        let steps = NIOLockedValueBox([Double]())
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for number in 300..<400 { _ = try await store.apply(delivery(number)) } }
            group.addTask { try await store.backUp(to: path) { step in steps.withLockedValue { $0.append(step) } } }
            try await group.waitForAll()
        }
        let copy = try SQLiteStore(SQLiteSettings(path: path))
        #expect(try await copy.check() == [])
        let count = try #require(try await copy.intakes().first?.notifications)
        #expect((300...400).contains(count))
        for number in 0..<count { #expect(try await copy.apply(delivery(number)) == .known) }
        #expect(steps.withLockedValue { $0.last } == 1)
        #expect(steps.withLockedValue { $0.count > 1 && $0 == $0.sorted() })
    }

    @Test("a backup never replaces a file, and what an interrupted one has left is in no one's way")
    func names() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        try database.folder.write(Array("precious".utf8), to: "taken")
        await #expect(throws: StoreError.self) { try await store.backUp(to: database.folder.path + "/taken") { _ in } }
        #expect(try database.folder.read("taken") == Array("precious".utf8))
        try database.folder.write(Array("half".utf8), to: "new.partial")
        try await store.backUp(to: database.folder.path + "/new") { _ in }
        #expect(!FileManager.default.fileExists(atPath: database.folder.path + "/new.partial"))
    }

    @Test("a backup is never written through a link, or into what else stands under its temporary name")
    func plantedLink() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        let folder = database.folder.path
        try database.folder.write(Array("precious".utf8), to: "precious")
        try FileManager.default.createSymbolicLink(
            atPath: folder + "/new.partial", withDestinationPath: folder + "/precious")
        try FileManager.default.createSymbolicLink(
            atPath: folder + "/dangling.partial", withDestinationPath: folder + "/made")
        try FileManager.default.createDirectory(atPath: folder + "/folder.partial", withIntermediateDirectories: false)
        for name in ["new", "dangling", "folder"] {
            let error = await #expect(throws: StoreError.self) {
                try await store.backUp(to: "\(folder)/\(name)") { _ in }
            }
            #expect(error?.kind == .exists, "\(error as Any)")
            #expect(!FileManager.default.fileExists(atPath: "\(folder)/\(name)"))
        }
        #expect(try database.folder.read("precious") == Array("precious".utf8))
        #expect(!FileManager.default.fileExists(atPath: folder + "/made"))
        // A second name of a file keeps its content.
        try FileManager.default.linkItem(atPath: folder + "/precious", toPath: folder + "/hard.partial")
        try await store.backUp(to: folder + "/hard") { _ in }
        #expect(try database.folder.read("precious") == Array("precious".utf8))
    }

    private func delivery(_ number: Int) -> Delivery {
        Sample.delivery("n\(number)", Sample.facts(number), body: String(repeating: "b", count: 20_000))
    }
}
