import Foundation
import NIOConcurrencyHelpers
import OfferCore
import OfferCrypto
import OfferStorage
import TestSupport
import Testing

@Suite("Folder of keys")
struct KeyShelfTests {
    private let folder: TemporaryFolder
    private let start = ContinuousClock.now

    init() throws {
        folder = try TemporaryFolder()
    }

    private func openShelf(allowsReadableByOthers: Bool = false) -> KeyShelf {
        KeyShelf(folder: KeyFolder(path: folder.path, allowsReadableByOthers: allowsReadableByOthers)) { _, text in
            try SigningKey(text: text)
        }
    }

    private func after(_ seconds: Int) -> ContinuousClock.Instant { start + .seconds(seconds) }

    /// Each finding as a word and an ID or an error.
    private func found(_ shelf: KeyShelf) -> [String] {
        shelf.findings.map { finding in
            switch finding {
            case .key(let key): "key \(key.id)"
            case .refused(_, let problem): "refused \(problem.error)"
            case .unsettled(let id): "unsettled \(id)"
            }
        }
    }

    private func expectLook(
        _ shelf: inout KeyShelf, at now: ContinuousClock.Instant, changes: Bool,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let hasChanged = shelf.look(at: now, now == start ? .first : .forChanges)
        #expect(hasChanged == changes, sourceLocation: sourceLocation)
    }

    private static let name = "SubscriptionKey_ABCDEFGH12.p8"

    @Test("what lies in the folder is found at the first look, and nothing but key files counts")
    func firstLook() throws {
        try folder.write(PrivateKeyPEM.generate(), to: Self.name)
        try folder.write(PrivateKeyPEM.generate(), to: "SubscriptionKey_ZZZZZZZZ99.p8")
        for other in ["README.md", ".hidden", "SubscriptionKey_ABCDEFGH12.p8.new", "key.pem"] {
            try folder.write(Array("nothing".utf8), to: other)
        }
        var shelf = openShelf()
        expectLook(&shelf, at: start, changes: true)
        #expect(found(shelf) == ["key ABCDEFGH12", "key ZZZZZZZZ99"])
        expectLook(&shelf, at: after(1), changes: false)
    }

    @Test("a folder that is not there holds nothing, and one that is a file is a problem")
    func noFolder() throws {
        var shelf = KeyShelf(folder: KeyFolder(path: folder.path + "/none")) { _, _ in EmptyKeyPair() }
        expectLook(&shelf, at: start, changes: false)
        #expect(found(shelf) == [])
        try folder.write([], to: "file")
        shelf = KeyShelf(folder: KeyFolder(path: folder.path + "/file")) { _, _ in EmptyKeyPair() }
        expectLook(&shelf, at: start, changes: true)
        #expect(found(shelf).count == 1)
        expectLook(&shelf, at: after(1), changes: false)
    }

    @Test("a key that is renamed into place counts at the next look; the others stay the same objects")
    func dropped() throws {
        try folder.write(PrivateKeyPEM.generate(), to: Self.name)
        var shelf = openShelf()
        _ = shelf.look(at: start, .first)
        guard case .key(let before) = shelf.findings.first else { throw CocoaError(.featureUnsupported) }
        try folder.drop(PrivateKeyPEM.generate(), as: "SubscriptionKey_NEWNEWNEW1.p8")
        expectLook(&shelf, at: after(1), changes: true)
        #expect(found(shelf) == ["key ABCDEFGH12", "key NEWNEWNEW1"])
        guard case .key(let now) = shelf.findings.first else { throw CocoaError(.featureUnsupported) }
        #expect(before.pair === now.pair)
    }

    @Test("a key written in two halves is unsettled and then a key, never refused")
    func twoHalves() throws {
        var shelf = openShelf()
        _ = shelf.look(at: start, .first)
        let pem = try PrivateKeyPEM.generate()
        try folder.write(pem.prefix(100), to: Self.name)
        for second in 1...3 {
            _ = shelf.look(at: after(second), .forChanges)
            #expect(found(shelf) == ["unsettled ABCDEFGH12"])
        }
        try folder.write(pem, to: Self.name)
        expectLook(&shelf, at: after(4), changes: true)
        #expect(found(shelf) == ["key ABCDEFGH12"])
    }

    @Test("a key that is overwritten in two halves counts as what it was until it is the new one")
    func overwritten() throws {
        try folder.write(PrivateKeyPEM.generate(), to: Self.name)
        var shelf = openShelf()
        _ = shelf.look(at: start, .first)
        guard case .key(let before) = shelf.findings.first else { throw CocoaError(.featureUnsupported) }
        let pem = try PrivateKeyPEM.generate()
        try folder.write(pem.prefix(100), to: Self.name)
        expectLook(&shelf, at: after(1), changes: false)
        #expect(found(shelf) == ["key ABCDEFGH12"])
        try folder.write(pem, to: Self.name)
        expectLook(&shelf, at: after(2), changes: true)
        guard case .key(let now) = shelf.findings.first else { throw CocoaError(.featureUnsupported) }
        #expect(before.pair !== now.pair)
        #expect(now.pair.fingerprint == (try SigningKey(text: pem)).fingerprint)
    }

    @Test("a file that stays broken is refused when it has settled, and forgotten when it has been gone as long")
    func settles() throws {
        var shelf = openShelf()
        _ = shelf.look(at: start, .first)
        try folder.write(Array("broken".utf8), to: Self.name)
        expectLook(&shelf, at: after(1), changes: true)
        expectLook(&shelf, at: after(3), changes: false)
        expectLook(&shelf, at: after(4), changes: true)
        #expect(found(shelf).first?.contains("it is not PEM") == true)
        try folder.remove(Self.name)
        expectLook(&shelf, at: after(5), changes: false)
        expectLook(&shelf, at: after(8), changes: true)
        #expect(found(shelf) == [])
    }

    @Test("a file that never settles is refused all the same after half a minute")
    func neverSettles() throws {
        var shelf = openShelf()
        _ = shelf.look(at: start, .first)
        for second in 1...31 {
            try folder.write(Array("no key! \(second)".utf8), to: Self.name)
            _ = shelf.look(at: after(second), .forChanges)
            #expect((found(shelf) == ["unsettled ABCDEFGH12"]) == (second < 31))
        }
        #expect(found(shelf).first?.contains("it is not PEM") == true)
    }

    @Test("a key that is gone for a moment, as in an editor, was never gone")
    func goneForAMoment() throws {
        try folder.write(PrivateKeyPEM.generate(), to: Self.name)
        var shelf = openShelf()
        _ = shelf.look(at: start, .first)
        let pem = try folder.read(Self.name)
        try folder.remove(Self.name)
        expectLook(&shelf, at: after(1), changes: false)
        try folder.write(pem, to: Self.name)
        _ = shelf.look(at: after(2), .forChanges)
        #expect(found(shelf) == ["key ABCDEFGH12"])
    }

    @Test("a link that is changed to another target is seen, as in a container's secrets")
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
        var shelf = openShelf()
        _ = shelf.look(at: start, .first)
        #expect(found(shelf) == ["key ABCDEFGH12"])
        try manager.createSymbolicLink(atPath: folder.path + "/..new", withDestinationPath: "2")
        #expect(unsafe rename(folder.path + "/..new", folder.path + "/..data") == 0)
        expectLook(&shelf, at: after(1), changes: true)
        guard case .key(let key) = shelf.findings.first else { throw CocoaError(.featureUnsupported) }
        #expect(key.pair.fingerprint == (try SigningKey(text: folder.read("2/" + Self.name))).fingerprint)
    }

    @Test("a fault of the disk is told when it lasts, and passes without a change of the file")
    func diskFault() throws {
        try folder.write(PrivateKeyPEM.generate(), to: Self.name)
        let fails = NIOLockedValueBox(false)
        var shelf = KeyShelf(folder: KeyFolder(path: folder.path)) { _, text in
            if fails.withLockedValue({ $0 }) { throw KeyFileError.unreadable(path: "disk", reason: "I/O error") }
            return try SigningKey(text: text)
        }
        _ = shelf.look(at: start, .first)
        fails.withLockedValue { $0 = true }
        _ = shelf.look(at: after(1), .thorough)
        #expect(found(shelf) == ["key ABCDEFGH12"], "it may pass")
        _ = shelf.look(at: after(4), .forChanges)
        #expect(found(shelf) == ["refused the key file disk cannot be read (I/O error)"])
        fails.withLockedValue { $0 = false }
        expectLook(&shelf, at: after(5), changes: true)
        #expect(found(shelf) == ["key ABCDEFGH12"])
    }

    @Test("to read all anew keeps the objects of keys that are the same")
    func thorough() throws {
        try folder.write(PrivateKeyPEM.generate(), to: Self.name)
        var shelf = openShelf()
        _ = shelf.look(at: start, .first)
        let before = shelf.findings.first?.key?.pair
        _ = shelf.look(at: after(1), .thorough)
        #expect(shelf.findings.first?.key?.pair === before)
    }

    @Test("a folder that was named has to be there; one that goes takes no key with it")
    func namedFolder() throws {
        try FileManager.default.createDirectory(
            at: folder.url.appending(path: "keys"), withIntermediateDirectories: false)
        try folder.write(PrivateKeyPEM.generate(), to: "keys/\(Self.name)")
        var shelf = KeyShelf(folder: KeyFolder(path: folder.path + "/keys", mayBeMissing: false)) { _, text in
            try SigningKey(text: text)
        }
        _ = shelf.look(at: start, .first)
        try FileManager.default.moveItem(atPath: folder.path + "/keys", toPath: folder.path + "/away")
        expectLook(&shelf, at: after(1), changes: false)
        expectLook(&shelf, at: after(3), changes: false)
        expectLook(&shelf, at: after(4), changes: true)
        #expect(found(shelf) == ["key ABCDEFGH12", "refused the folder of keys \(folder.path)/keys is not there"])
        try FileManager.default.moveItem(atPath: folder.path + "/away", toPath: folder.path + "/keys")
        expectLook(&shelf, at: after(9), changes: true)
        #expect(found(shelf) == ["key ABCDEFGH12"])
    }

    @Test("each file that may not become a key is refused with a reason of its own", arguments: BrokenKeyFile.all)
    func refused(broken: BrokenKeyFile) throws {
        try broken.place(in: folder)
        var shelf = openShelf()
        _ = shelf.look(at: start, .first)
        let found = found(shelf)
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix("refused") == true && found.first?.contains(broken.reason) == true, "\(found)")
    }

    @Test("a key that others can read is taken where that is allowed")
    func readableByOthers() throws {
        try folder.write(PrivateKeyPEM.generate(), to: Self.name, mode: 0o444)
        var shelf = openShelf(allowsReadableByOthers: true)
        _ = shelf.look(at: start, .first)
        #expect(found(shelf) == ["key ABCDEFGH12"])
    }
}
