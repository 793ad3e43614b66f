package import SystemPackage

/// The content and permissions of a small regular file.
package struct RegularFile {
    package enum Fault: Error, Hashable {
        case notFound
        case danglingLink
        case folder
        /// The file is a pipe, a socket or a device.
        case notAFile
        /// The file is larger than the limit.
        case tooLarge
        case unreadable(reason: String)
    }

    package let bytes: [UInt8]
    package let permissions: FilePermissions

    /// True if the file is on a file system that is mounted read-only, so no one can write to it through this path.
    private let isOnReadOnlyFileSystem: Bool

    /// Reads the file, following links. A pipe or device at `path` does not block.
    /// - Parameter maximumSize: the maximum size in bytes.
    package init(path: String, maximumSize: Int) throws(Fault) {
        self = try Self.opening(path) { file, permissions in
            guard let bytes = try file.readAll(maximumSize: maximumSize) else { throw Fault.tooLarge }
            return RegularFile(bytes: bytes, permissions: permissions, isReadOnly: file.isOnReadOnlyFileSystem)
        }
    }

    /// Reads the file like ``init(path:maximumSize:)``, but into the caller's memory, which the caller can wipe.
    /// - Returns: the number of bytes, and the file without its bytes.
    /// - Throws: `.tooLarge` if the file fills the span.
    package static func read(
        _ path: String, into bytes: inout MutableSpan<UInt8>
    ) throws(Fault) -> (count: Int, file: RegularFile) {
        try unsafe bytes.withUnsafeMutableBytes { buffer throws(Fault) in
            try opening(path) { file, permissions in
                var count = 0
                while count < buffer.count {
                    let read = try unsafe file.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[count...]))
                    guard read > 0 else {
                        return (
                            count,
                            RegularFile(bytes: [], permissions: permissions, isReadOnly: file.isOnReadOnlyFileSystem)
                        )
                    }
                    count += read
                }
                throw Fault.tooLarge
            }
        }
    }

    private init(bytes: [UInt8], permissions: FilePermissions, isReadOnly: Bool) {
        self.bytes = bytes
        self.permissions = permissions
        isOnReadOnlyFileSystem = isReadOnly
    }

    private static func opening<Result>(
        _ path: String, _ read: (FileDescriptor, FilePermissions) throws -> Result
    ) throws(Fault) -> Result {
        do {
            // Non-blocking, because opening a pipe that has no writer would otherwise wait for one.
            let file = try FileDescriptor.open(FilePath(path), .readOnly, options: [.nonBlocking, .closeOnExec])
            return try file.closeAfter {
                // Checks the open file, not the path, so that the file cannot be replaced in between.
                let stat = try file.stat()
                if stat.type == .directory { throw Fault.folder }
                guard stat.type == .regular else { throw Fault.notAFile }
                return try read(file, stat.permissions)
            }
        } catch let fault as Fault {
            throw fault
        } catch Errno.noSuchFileOrDirectory {
            let isLink = (try? FilePath(path).stat(followTargetSymlink: false)) != nil
            throw isLink ? .danglingLink : .notFound
        } catch {
            throw .unreadable(reason: "\(error)")
        }
    }

    /// True if only the owner has access.
    package var isPrivate: Bool { permissions.rawValue & 0o077 == 0 }

    /// True if the group or others have write access.
    package var isWritableByOthers: Bool { permissions.areWritableByOthers && !isOnReadOnlyFileSystem }

    /// The permissions in octal, such as `644`.
    package var mode: String { String(permissions.rawValue & 0o777, radix: 8) }
}

extension RegularFile.Fault {
    /// Describes the fault as a predicate, such as `does not exist`.
    /// - Parameter maximumSize: the maximum size in bytes.
    package func reason(maximumSize: Int) -> String {
        switch self {
        case .notFound: "does not exist"
        case .danglingLink: "is a dangling link"
        case .folder, .notAFile: "is not a regular file"
        case .tooLarge: "is larger than \(maximumSize) bytes"
        case .unreadable(let reason): "cannot be read (\(reason))"
        }
    }
}
