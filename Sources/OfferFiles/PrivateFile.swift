import Glibc
package import SystemPackage

/// A file that only its owner may read and write.
package enum PrivateFile {
    /// Creates the file, empty, unless it exists. Withdraws the access of others from an existing file.
    ///
    /// A missing folder is created too, with access for its owner alone. Its parent must exist.
    package static func prepare(_ path: FilePath) throws {
        if unsafe mkdir(path.folder.string, 0o700) == 0 {
            try sync(path.folder.folder, options: [.closeOnExec, .directory])
        } else if errno != EEXIST {
            throw Errno(rawValue: errno)
        }
        let file = try FileDescriptor.open(
            path, .readWrite, options: [.create, .closeOnExec, .nonBlocking], permissions: [.ownerReadWrite])
        try file.closeAfter {
            let stat = try file.stat()
            guard stat.type == .regular else { throw Errno.invalidArgument }
            guard stat.permissions.rawValue & 0o077 != 0 else { return }
            guard fchmod(file.rawValue, 0o600) == 0 else { throw Errno(rawValue: errno) }
        }
    }

    /// Makes a finished file durable and gives it its name.
    /// - Throws: `Errno.fileExists` if another file has that name.
    package static func publish(_ temporary: FilePath, as path: FilePath) throws {
        try requireAbsent(path)
        try sync(temporary, options: [.closeOnExec])
        guard unsafe rename(temporary.string, path.string) == 0 else { throw Errno(rawValue: errno) }
        try sync(path.folder, options: [.closeOnExec, .directory])
    }

    /// - Throws: `Errno.fileExists` if there is a file.
    package static func requireAbsent(_ path: FilePath) throws {
        if (try? path.stat(followTargetSymlink: false)) != nil { throw Errno.fileExists }
    }

    package static func remove(_ path: FilePath) throws {
        guard unsafe unlink(path.string) == 0 else { throw Errno(rawValue: errno) }
    }

    private static func sync(_ path: FilePath, options: FileDescriptor.OpenOptions) throws {
        let file = try FileDescriptor.open(path, .readOnly, options: options)
        try file.closeAfter {
            guard fsync(file.rawValue) == 0 else { throw Errno(rawValue: errno) }
        }
    }
}
