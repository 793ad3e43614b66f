import Glibc
package import SystemPackage

/// The file system that a folder is on.
package enum FileSystem {
    /// Returns the free space available to this account, in bytes; nil if the folder cannot be opened.
    package static func freeSpace(at folder: FilePath) -> Int? {
        guard
            let folder = try? FileDescriptor.open(
                folder, .readOnly, options: [.directory, .nonBlocking, .closeOnExec])
        else { return nil }
        defer { try? folder.close() }
        return folder.fileSystem.map { Int(clamping: $0.f_bavail) * Int(clamping: $0.f_frsize) }
    }
}

extension FileDescriptor {
    var fileSystem: statvfs? {
        var system = statvfs()
        return unsafe fstatvfs(rawValue, &system) == 0 ? system : nil
    }

    var isOnReadOnlyFileSystem: Bool { fileSystem.map { $0.f_flag & UInt(ST_RDONLY) != 0 } ?? false }
}
