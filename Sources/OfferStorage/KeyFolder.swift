package import FoundationEssentials
import Glibc
package import OfferCore
import SystemPackage

/// The folder where an operator puts `SubscriptionKey_<KEYID>.p8`, named as App Store Connect names it.
package struct KeyFolder: Sendable {
    package let path: String
    /// Whether a key file may be readable by others than its owner, as secrets that a container is given often are.
    package let allowsReadableByOthers: Bool

    /// Whether it is no problem if the folder is not there.
    package let mayBeMissing: Bool

    package init(path: String, allowsReadableByOthers: Bool = false, mayBeMissing: Bool = true) {
        self.path = path
        self.allowsReadableByOthers = allowsReadableByOthers
        self.mayBeMissing = mayBeMissing
    }

    /// The largest key file that is read, in bytes. A P-256 key has about 250.
    package static let maximumFileSize = 8 * 1024

    package func filePath(of id: KeyID) -> String { filePath(KeyFileName.name(of: id)) }

    /// The key's text, as it is in the file.
    package func read(_ id: KeyID) throws(KeyFileError) -> [UInt8] {
        guard id.isOfAppStoreConnect else { throw .noKeyID(path: filePath(of: id)) }
        return try Self.read(filePath(of: id), allowsReadableByOthers: allowsReadableByOthers)
    }

    /// The text of a key file anywhere, held to the same rules, but that it may have a name that says nothing of a key.
    package static func read(_ path: String, allowsReadableByOthers: Bool) throws(KeyFileError) -> [UInt8] {
        switch KeyFileName(path.split(separator: "/").last.map(String.init) ?? "") {
        case .key, .other: break
        case .noKeyID: throw .noKeyID(path: path)
        case .otherKind: throw .otherKind(path: path)
        }
        let file: OrdinaryFile
        do { file = try OrdinaryFile(path: path, maximumSize: maximumFileSize) } catch {
            throw KeyFileError(error, path: path)
        }
        guard allowsReadableByOthers || file.isPrivate else {
            throw .readableByOthers(path: path, mode: file.mode)
        }
        guard !file.bytes.isEmpty else { throw .empty(path: path) }
        return file.bytes
    }

    /// Writes a new key file, readable by its owner alone. It appears whole or not at all, and never replaces a file.
    package func create(_ id: KeyID, pem: [UInt8]) throws(KeyFileError) {
        guard id.isOfAppStoreConnect else { throw .noKeyID(path: filePath(of: id)) }
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
            // Unlike a rename, a link fails where the name is taken.
            guard unsafe link(temporary, path) == 0 else { throw Errno(rawValue: errno) }
            let folder = try FileDescriptor.open(FilePath(self.path), .readOnly, options: [.directory, .closeOnExec])
            try folder.closeAfter { try Self.sync(folder) }
        } catch Errno.fileExists {
            throw .exists(path: path)
        } catch {
            throw .unwritable(path: path, reason: "\(error)")
        }
    }

    /// The names of what is in the folder; none if there is no folder and need not be one.
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

    /// The later of the two times that the folder and each key file have: of its content, and of the file itself.
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
