import Glibc
package import SystemPackage

/// A file that only its owner may read and write.
package enum PrivateFile {
    /// Creates the file, empty, unless it exists. Withdraws the access of others from an existing file.
    ///
    /// A missing folder is created too, with access only for its owner. Its parent must exist.
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

    /// Creates an empty file under a temporary name, in place of one that an interrupted run has left.
    ///
    /// A link, a folder or a pipe under this name is refused, because the program does not leave any. It could redirect
    /// the written data to another place.
    /// - Throws: `Errno.fileExists` for one of these, and for a file that another program creates at the same time.
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
