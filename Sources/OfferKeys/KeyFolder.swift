package import FoundationEssentials
import Glibc
package import OfferCore
package import OfferCrypto
import OfferFiles
import SystemPackage

/// The folder of key files, `SubscriptionKey_<KEYID>.p8`, named as App Store Connect names them.
package struct KeyFolder: Hashable, Sendable {
    package let path: String
    /// True if key files may be readable by users other than their owner, as container secrets often are.
    package let allowsReadableByOthers: Bool

    /// True if a missing folder counts as an empty one.
    package let mayBeMissing: Bool

    package init(path: String, allowsReadableByOthers: Bool = false, mayBeMissing: Bool = true) {
        self.path = path
        self.allowsReadableByOthers = allowsReadableByOthers
        self.mayBeMissing = mayBeMissing
    }

    /// The maximum size of a key file in bytes. A P-256 key takes about 250.
    package static let maximumFileSize = 8 * 1024

    package func filePath(of id: KeyID) -> String { filePath(KeyFileName.name(of: id)) }

    /// Reads the text of a key file.
    package func read(_ id: KeyID) throws(KeyFileError) -> SecretBytes {
        guard id.hasAppStoreConnectForm else { throw .noKeyID(path: filePath(of: id)) }
        return try Self.read(filePath(of: id), allowsReadableByOthers: allowsReadableByOthers)
    }

    /// Returns the key ID in the name of a key file; nil if it has none.
    package static func keyID(inNameOf path: String) -> KeyID? {
        guard case .key(let id) = KeyFileName(path.split(separator: "/").last.map(String.init) ?? "") else {
            return nil
        }
        return id
    }

    /// Reads the text of a key file at any path. The rules of ``read(_:)`` apply, except that the name need not contain
    /// a key ID.
    package static func read(_ path: String, allowsReadableByOthers: Bool) throws(KeyFileError) -> SecretBytes {
        switch KeyFileName(path.split(separator: "/").last.map(String.init) ?? "") {
        case .key, .other: break
        case .noKeyID: throw .noKeyID(path: path)
        case .otherKind: throw .otherKind(path: path)
        }
        return try readContents(path, allowsReadableByOthers: allowsReadableByOthers)
    }

    /// Reads the text of a key file for any purpose, whatever its name is.
    package static func readContents(
        _ path: String, allowsReadableByOthers: Bool
    ) throws(KeyFileError) -> SecretBytes {
        // One byte more than the maximum, because a file that fills the memory may be longer.
        let bytes = try SecretBytes(capacity: maximumFileSize + 1) { bytes throws(KeyFileError) in
            let (count, file): (Int, RegularFile)
            do throws(RegularFile.Fault) { (count, file) = try RegularFile.read(path, into: &bytes) } catch {
                throw KeyFileError(error, path: path)
            }
            guard allowsReadableByOthers || file.isPrivate else {
                throw .readableByOthers(path: path, mode: file.mode)
            }
            guard !file.isWritableByOthers else { throw .writableByOthers(path: path, mode: file.mode) }
            return count
        }
        guard bytes.count > 0 else { throw .empty(path: path) }
        return bytes
    }

    /// Creates a key file that only its owner can read. The file appears complete or not at all, and never replaces
    /// another file.
    package func create(_ id: KeyID, pem: [UInt8]) throws(KeyFileError) {
        guard id.hasAppStoreConnectForm else { throw .noKeyID(path: filePath(of: id)) }
        let path = filePath(of: id)
        let temporary = "\(path).\(UInt64.random(in: .min ... .max)).new"
        do {
            let file = try FileDescriptor.open(
                FilePath(temporary), .writeOnly, options: [.create, .exclusiveCreate, .closeOnExec],
                permissions: .ownerReadWrite)
            defer { unsafe _ = unlink(temporary) }
            try file.closeAfter {
                try file.writeAll(pem)
                try Self.sync(file)
            }
            // Unlike a rename, a link fails if the name is taken.
            guard unsafe link(temporary, path) == 0 else { throw Errno(rawValue: errno) }
            let folder = try FileDescriptor.open(FilePath(self.path), .readOnly, options: [.directory, .closeOnExec])
            try folder.closeAfter { try Self.sync(folder) }
        } catch Errno.fileExists {
            throw .exists(path: path)
        } catch {
            throw .unwritable(path: path, reason: "\(error)")
        }
    }

    /// Lists the names in the folder. A missing folder counts as empty if ``mayBeMissing`` is true.
    func fileNames() throws(KeyFileError) -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: path)
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile || error.code == .fileNoSuchFile {
            if mayBeMissing { return [] }
            throw .noFolder(path: path)
        } catch {
            throw .unlistable(path: path)
        }
    }

    /// Lists the folder and each key file, with the time of the last change to its content (mtime) or its inode
    /// (ctime).
    package func changeTimes() -> [(path: String, time: Date)] {
        let names = (try? fileNames())?.filter { KeyFileName($0) != .other } ?? []
        return ([path] + names.map(filePath)).compactMap { path in
            guard let stat = try? FilePath(path).stat() else { return nil }
            let seconds = max(stat.st_mtim.tv_sec, stat.st_ctim.tv_sec)
            return (path, Date(timeIntervalSince1970: TimeInterval(seconds)))
        }
    }

    func filePath(_ name: String) -> String { "\(path)/\(name)" }

    private static func sync(_ file: FileDescriptor) throws {
        guard fsync(file.rawValue) == 0 else { throw Errno(rawValue: errno) }
    }
}
