package import SystemPackage

/// The content and permissions of a small regular file.
package struct RegularFile {
    package enum Fault: Error, Hashable {
        case notFound
        case danglingLink
        case folder
        /// A pipe, a socket or a device.
        case notAFile
        /// Larger than the limit.
        case tooLarge
        case unreadable(reason: String)
    }

    package let bytes: [UInt8]
    package let permissions: FilePermissions

    /// Reads the file, following links. A pipe or device at `path` does not block.
    /// - Parameter maximumSize: in bytes.
    package init(path: String, maximumSize: Int) throws(Fault) {
        do {
            // Non-blocking, because opening a pipe that has no writer would otherwise wait for one.
            let file = try FileDescriptor.open(FilePath(path), .readOnly, options: [.nonBlocking, .closeOnExec])
            (bytes, permissions) = try file.closeAfter {
                // Checks the open file, not the path, so that the file cannot be replaced in between.
                let stat = try file.stat()
                if stat.type == .directory { throw Fault.folder }
                guard stat.type == .regular else { throw Fault.notAFile }
                guard let bytes = try file.readAll(maximumSize: maximumSize) else { throw Fault.tooLarge }
                return (bytes, stat.permissions)
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

    /// Whether only the owner has access.
    package var isPrivate: Bool { permissions.rawValue & 0o077 == 0 }

    /// Whether group or others have write access.
    package var isWritableByOthers: Bool { permissions.rawValue & 0o022 != 0 }

    /// The permissions in octal, such as `644`.
    package var mode: String { String(permissions.rawValue & 0o777, radix: 8) }
}

extension RegularFile.Fault {
    /// Describes the fault as a predicate, such as `does not exist`.
    /// - Parameter maximumSize: in bytes.
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
