import FoundationEssentials
import Glibc
package import OfferCore
import SystemPackage

/// The folder where an operator puts `SubscriptionKey_<KEYID>.p8`, named as App Store Connect names it.
package struct KeyFolder: Sendable {
    package let path: String

    package init(path: String) {
        self.path = path
    }

    /// The largest key file that is read, in bytes. A P-256 key has about 250.
    package static let maximumFileSize = 8 * 1024

    package func filePath(of id: KeyID) -> String { "\(path)/\(Self.prefix)\(id)\(Self.suffix)" }

    /// The key's text, as it is in the file.
    package func read(_ id: KeyID) throws(KeyFileError) -> [UInt8] {
        let path = filePath(of: id)
        do {
            // Non-blocking, so that a pipe of that name cannot hold the start up.
            let file = try FileDescriptor.open(FilePath(path), .readOnly, options: [.nonBlocking, .closeOnExec])
            guard let pem = try file.closeAfter({ try file.readAll(maximumSize: Self.maximumFileSize) }) else {
                throw KeyFileError.tooLarge(path: path)
            }
            return pem
        } catch let error as KeyFileError {
            throw error
        } catch Errno.noSuchFileOrDirectory {
            throw .notFound(path: path)
        } catch {
            throw .unreadable(path: path, reason: "\(error)")
        }
    }

    /// Writes a new key file, readable by its owner alone. It appears whole or not at all, and never replaces a file.
    package func create(_ id: KeyID, pem: [UInt8]) throws(KeyFileError) {
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

    /// The IDs of the key files that are there, in order; for hints.
    package func keyIDs() -> [KeyID] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return names.sorted().compactMap { name in
            guard name.hasPrefix(Self.prefix), name.hasSuffix(Self.suffix) else { return nil }
            return try? KeyID(utf8: Array(name.dropFirst(Self.prefix.count).dropLast(Self.suffix.count).utf8))
        }
    }

    private static let prefix = "SubscriptionKey_"
    private static let suffix = ".p8"

    private static func sync(_ file: FileDescriptor) throws {
        guard fsync(file.rawValue) == 0 else { throw Errno(rawValue: errno) }
    }
}
