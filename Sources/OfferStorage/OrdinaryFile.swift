package import SystemPackage

/// A small ordinary file, read whole.
package struct OrdinaryFile {
    package enum Fault: Error, Hashable {
        case notFound
        case danglingLink
        case folder
        /// A pipe, a socket or a device.
        case notAFile
        /// Larger than what is read.
        case tooLarge
        case unreadable(reason: String)
    }

    package let bytes: [UInt8]
    package let permissions: FilePermissions

    /// Follows links. Whatever is at `path`, it does not wait for anything.
    /// - Parameter maximumSize: in bytes.
    package init(path: String, maximumSize: Int) throws(Fault) {
        do {
            // Non-blocking, so that a pipe of that name cannot hold us up.
            let file = try FileDescriptor.open(FilePath(path), .readOnly, options: [.nonBlocking, .closeOnExec])
            (bytes, permissions) = try file.closeAfter {
                // What has been opened is looked at, so nothing can be put in its place meanwhile.
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

    /// Whether nobody but its owner may do anything with it.
    package var isPrivate: Bool { permissions.rawValue & 0o077 == 0 }

    /// Whether somebody beside its owner may change it.
    package var isWritableByOthers: Bool { permissions.rawValue & 0o022 != 0 }

    /// Its permissions in octal, such as `644`.
    package var mode: String { String(permissions.rawValue & 0o777, radix: 8) }
}
