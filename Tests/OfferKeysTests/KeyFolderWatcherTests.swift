import Foundation
import NIOConcurrencyHelpers
import OfferCore
import OfferCrypto
import OfferKeys
import TestSupport
import Testing

@Suite("Key folder watcher")
struct KeyFolderWatcherTests {
    private let folder: TemporaryFolder
    private let start = ContinuousClock.now

    init() throws {
        folder = try TemporaryFolder()
    }

    private func openShelf(allowsReadableByOthers: Bool = false) -> KeyFolderWatcher {
        let folder = KeyFolder(path: folder.path, allowsReadableByOthers: allowsReadableByOthers)
        return KeyFolderWatcher(folder: folder) { _, text in try SigningKey(text: text) }
    }

    /// A watcher after its first scan.
    private func scannedShelf(allowsReadableByOthers: Bool = false) -> KeyFolderWatcher {
        var watcher = openShelf(allowsReadableByOthers: allowsReadableByOthers)
        _ = watcher.scan(at: start, .first)
        return watcher
    }

    private func firstKey(_ watcher: KeyFolderWatcher) throws -> KeyRing.Key { try #require(watcher.keys.first?.key) }

    private func after(_ seconds: Int) -> ContinuousClock.Instant { start + .seconds(seconds) }

    /// Describes each status by a word and its key ID or error.
    private func found(_ watcher: KeyFolderWatcher) -> [String] {
        watcher.keys.map { finding in
            switch finding {
            case .key(let key): "key \(key.id)"
            case .refused(_, let problem): "refused \(problem.error)"
            case .unsettled(let id): "unsettled \(id)"
            }
        }
    }

    private func expectLook(
        _ watcher: inout KeyFolderWatcher, at now: ContinuousClock.Instant, changes: Bool,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let hasChanged = watcher.scan(at: now, now == start ? .first : .forChanges)
        #expect(hasChanged == changes, sourceLocation: sourceLocation)
    }

    private static let name = "SubscriptionKey_ABCDEFGH12.p8"

    @Test("the first scan finds all key files and nothing else")
    func firstLook() throws {
        try folder.write(PrivateKeyPEM.generate(), to: Self.name)
        try folder.write(PrivateKeyPEM.generate(), to: "SubscriptionKey_ZZZZZZZZ99.p8")
        for other in ["README.md", ".hidden", "SubscriptionKey_ABCDEFGH12.p8.new", "key.pem"] {
            try folder.write(Array("nothing".utf8), to: other)
        }
        var watcher = openShelf()
        expectLook(&watcher, at: start, changes: true)
        #expect(found(watcher) == ["key ABCDEFGH12", "key ZZZZZZZZ99"])
        expectLook(&watcher, at: after(1), changes: false)
    }

    @Test("a missing folder counts as empty, but a file in its place is a problem")
    func noFolder() throws {
        var watcher = KeyFolderWatcher(folder: KeyFolder(path: folder.path + "/none")) { _, _ in EmptyKeyPair() }
        expectLook(&watcher, at: start, changes: false)
        #expect(found(watcher) == [])
        try folder.write([], to: "file")
        watcher = KeyFolderWatcher(folder: KeyFolder(path: folder.path + "/file")) { _, _ in EmptyKeyPair() }
        expectLook(&watcher, at: start, changes: true)
        #expect(found(watcher).count == 1)
        expectLook(&watcher, at: after(1), changes: false)
    }

    @Test("the next scan finds a key renamed into place and keeps the other key objects")
    func dropped() throws {
        try folder.write(PrivateKeyPEM.generate(), to: Self.name)
        var watcher = scannedShelf()
        let before = try firstKey(watcher)
        try folder.drop(PrivateKeyPEM.generate(), as: "SubscriptionKey_NEWNEWNEW1.p8")
        expectLook(&watcher, at: after(1), changes: true)
        #expect(found(watcher) == ["key ABCDEFGH12", "key NEWNEWNEW1"])
        let now = try firstKey(watcher)
        #expect(before.pair === now.pair)
    }

    @Test("a key file written in two halves is unsettled until complete and never refused")
    func twoHalves() throws {
        var watcher = scannedShelf()
        let pem = try PrivateKeyPEM.generate()
        try folder.write(pem.prefix(100), to: Self.name)
        for second in 1...3 {
            _ = watcher.scan(at: after(second), .forChanges)
            #expect(found(watcher) == ["unsettled ABCDEFGH12"])
        }
        try folder.write(pem, to: Self.name)
        expectLook(&watcher, at: after(4), changes: true)
        #expect(found(watcher) == ["key ABCDEFGH12"])
    }

    @Test("while a key file is overwritten in two halves, the old key stays until the new one is complete")
    func overwritten() throws {
        try folder.write(PrivateKeyPEM.generate(), to: Self.name)
        var watcher = scannedShelf()
        let before = try firstKey(watcher)
        let pem = try PrivateKeyPEM.generate()
        try folder.write(pem.prefix(100), to: Self.name)
        expectLook(&watcher, at: after(1), changes: false)
        #expect(found(watcher) == ["key ABCDEFGH12"])
        try folder.write(pem, to: Self.name)
        expectLook(&watcher, at: after(2), changes: true)
        let now = try firstKey(watcher)
        #expect(before.pair !== now.pair)
        #expect(now.pair.fingerprint == (try SigningKey(text: pem)).fingerprint)
    }

    @Test(
        "a broken file is refused after three seconds without a change, and forgotten three seconds after its removal")
    func settles() throws {
        var watcher = scannedShelf()
        try folder.write(Array("broken".utf8), to: Self.name)
        expectLook(&watcher, at: after(1), changes: true)
        expectLook(&watcher, at: after(3), changes: false)
        expectLook(&watcher, at: after(4), changes: true)
        #expect(found(watcher).first?.contains("it is not PEM") == true)
        try folder.remove(Self.name)
        expectLook(&watcher, at: after(5), changes: false)
        expectLook(&watcher, at: after(8), changes: true)
        #expect(found(watcher) == [])
    }

    @Test("a file that keeps changing is refused after 30 seconds")
    func neverSettles() throws {
        var watcher = scannedShelf()
        for second in 1...31 {
            try folder.write(Array("no key! \(second)".utf8), to: Self.name)
            _ = watcher.scan(at: after(second), .forChanges)
            #expect((found(watcher) == ["unsettled ABCDEFGH12"]) == (second < 31))
        }
        #expect(found(watcher).first?.contains("it is not PEM") == true)
    }

    @Test("a key whose file disappears briefly, as when an editor saves it, is kept")
    func goneForAMoment() throws {
        try folder.write(PrivateKeyPEM.generate(), to: Self.name)
        var watcher = scannedShelf()
        let pem = try folder.read(Self.name)
        try folder.remove(Self.name)
        expectLook(&watcher, at: after(1), changes: false)
        try folder.write(pem, to: Self.name)
        _ = watcher.scan(at: after(2), .forChanges)
        #expect(found(watcher) == ["key ABCDEFGH12"])
    }

    @Test("a symbolic link switched to another target, as for container secrets, is detected")
    func links() throws {
        for version in ["1", "2"] {
            try FileManager.default.createDirectory(
                at: folder.url.appending(path: version), withIntermediateDirectories: false)
            try folder.write(PrivateKeyPEM.generate(), to: "\(version)/\(Self.name)")
        }
        let manager = FileManager.default
        try manager.createSymbolicLink(atPath: folder.path + "/..data", withDestinationPath: "1")
        try manager.createSymbolicLink(
            atPath: folder.path + "/" + Self.name, withDestinationPath: "..data/" + Self.name)
        var watcher = scannedShelf()
        #expect(found(watcher) == ["key ABCDEFGH12"])
        try manager.createSymbolicLink(atPath: folder.path + "/..new", withDestinationPath: "2")
        #expect(unsafe rename(folder.path + "/..new", folder.path + "/..data") == 0)
        expectLook(&watcher, at: after(1), changes: true)
        let key = try firstKey(watcher)
        #expect(key.pair.fingerprint == (try SigningKey(text: folder.read("2/" + Self.name))).fingerprint)
    }

    @Test("a lasting disk fault is reported, and clears without a change to the file")
    func diskFault() throws {
        try folder.write(PrivateKeyPEM.generate(), to: Self.name)
        let fails = NIOLockedValueBox(false)
        var watcher = KeyFolderWatcher(folder: KeyFolder(path: folder.path)) { _, text in
            if fails.withLockedValue({ $0 }) { throw KeyFileError.unreadable(path: "disk", reason: "I/O error") }
            return try SigningKey(text: text)
        }
        _ = watcher.scan(at: start, .first)
        fails.withLockedValue { $0 = true }
        _ = watcher.scan(at: after(1), .thorough)
        #expect(found(watcher) == ["key ABCDEFGH12"], "the fault may be temporary")
        _ = watcher.scan(at: after(4), .forChanges)
        #expect(found(watcher) == ["refused the key file disk cannot be read (I/O error)"])
        fails.withLockedValue { $0 = false }
        expectLook(&watcher, at: after(5), changes: true)
        #expect(found(watcher) == ["key ABCDEFGH12"])
    }

    @Test("a thorough scan keeps the objects of unchanged keys")
    func thorough() throws {
        try folder.write(PrivateKeyPEM.generate(), to: Self.name)
        var watcher = scannedShelf()
        let before = watcher.keys.first?.key?.pair
        _ = watcher.scan(at: after(1), .thorough)
        #expect(watcher.keys.first?.key?.pair === before)
    }

    @Test("a configured folder must exist, but removing it removes no keys")
    func namedFolder() throws {
        try FileManager.default.createDirectory(
            at: folder.url.appending(path: "keys"), withIntermediateDirectories: false)
        try folder.write(PrivateKeyPEM.generate(), to: "keys/\(Self.name)")
        var watcher = KeyFolderWatcher(folder: KeyFolder(path: folder.path + "/keys", mayBeMissing: false)) { _, text in
            try SigningKey(text: text)
        }
        _ = watcher.scan(at: start, .first)
        try FileManager.default.moveItem(atPath: folder.path + "/keys", toPath: folder.path + "/away")
        expectLook(&watcher, at: after(1), changes: false)
        expectLook(&watcher, at: after(3), changes: false)
        expectLook(&watcher, at: after(4), changes: true)
        #expect(found(watcher) == ["key ABCDEFGH12", "refused the key folder \(folder.path)/keys does not exist"])
        try FileManager.default.moveItem(atPath: folder.path + "/away", toPath: folder.path + "/keys")
        expectLook(&watcher, at: after(9), changes: true)
        #expect(found(watcher) == ["key ABCDEFGH12"])
    }

    @Test("each unusable key file is refused with its own reason", arguments: BrokenKeyFile.all)
    func refused(broken: BrokenKeyFile) throws {
        try broken.place(in: folder)
        let watcher = scannedShelf()
        let found = found(watcher)
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix("refused") == true && found.first?.contains(broken.reason) == true, "\(found)")
    }

    @Test("a key file that others can read is accepted if the settings allow it")
    func readableByOthers() throws {
        try folder.write(PrivateKeyPEM.generate(), to: Self.name, mode: 0o444)
        let watcher = scannedShelf(allowsReadableByOthers: true)
        #expect(found(watcher) == ["key ABCDEFGH12"])
    }

    @Test("a key file that others can write is refused, whatever the settings allow", arguments: [0o420, 0o602])
    func writableByOthers(mode: Int) throws {
        try folder.write(PrivateKeyPEM.generate(), to: Self.name, mode: mode)
        let watcher = scannedShelf(allowsReadableByOthers: true)
        #expect(found(watcher).count == 1 && found(watcher).first?.contains("can be written by others") == true)
    }
}
