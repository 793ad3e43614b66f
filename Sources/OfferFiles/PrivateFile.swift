import Glibc
package import SystemPackage

/// A file that only its owner may read and write.
package enum PrivateFile {
    /// Creates an empty file if there is none. Removes other users' access to an existing file.
    ///
    /// A missing folder is also created, with access only for its owner. The folder's parent must exist.
    package static func prepare(_ path: FilePath) throws {
        try makeFolder(of: path)
        let file = try FileDescriptor.open(
            path, .readWrite, options: [.create, .closeOnExec, .nonBlocking], permissions: [.ownerReadWrite])
        try file.closeAfter {
            let stat = try file.stat()
            guard stat.type == .regular else { throw Errno.invalidArgument }
            guard stat.permissions.rawValue & 0o077 != 0 else { return }
            guard fchmod(file.rawValue, 0o600) == 0 else { throw Errno(rawValue: errno) }
        }
    }

    /// Creates an empty file under a temporary name, replacing one that an interrupted run left.
    ///
    /// A link, folder or pipe with this name is refused, because this program never creates one. It could redirect the
    /// written data.
    /// - Throws: `Errno.fileExists` for a link, folder or pipe, and if another program creates the file at the same
    ///   time.
    package static func createTemporary(_ path: FilePath) throws {
        try makeFolder(of: path)
        if let stat = try? path.stat(followTargetSymlink: false) {
            guard stat.type == .regular else { throw Errno.fileExists }
            try remove(path)
        }
        try FileDescriptor.open(
            path, .readWrite, options: [.create, .exclusiveCreate, .noFollow, .closeOnExec],
            permissions: [.ownerReadWrite]
        ).close()
    }

    /// Creates the folder of a file if it is missing, with access only for its owner.
    private static func makeFolder(of path: FilePath) throws {
        if unsafe mkdir(path.folder.string, 0o700) == 0 {
            try sync(path.folder.folder, options: [.closeOnExec, .directory])
        } else if errno != EEXIST {
            throw Errno(rawValue: errno)
        }
    }

    /// Makes a finished file durable and renames it to `path`.
    /// - Throws: `Errno.fileExists` if another file has this name.
    package static func publish(_ temporary: FilePath, as path: FilePath) throws {
        try requireAbsent(path)
        try sync(temporary, options: [.closeOnExec])
        guard unsafe rename(temporary.string, path.string) == 0 else { throw Errno(rawValue: errno) }
        try sync(path.folder, options: [.closeOnExec, .directory])
    }

    /// - Throws: `Errno.fileExists` if the file exists.
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
