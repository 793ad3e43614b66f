import SystemPackage

/// The write access of others to a folder.
package enum FolderAccess {
    /// Returns the permissions of the folder in octal, such as `775`, if the group or others can create or replace
    /// files in it. Returns nil if they cannot, or if the folder cannot be opened.
    ///
    /// A folder on a read-only file system does not count as writable: container engines mount secrets read-only with
    /// mode 1777.
    package static func modeIfWritableByOthers(_ path: String) -> String? {
        guard
            let folder = try? FileDescriptor.open(
                FilePath(path), .readOnly, options: [.directory, .nonBlocking, .closeOnExec])
        else { return nil }
        defer { try? folder.close() }
        guard let permissions = try? folder.stat().permissions, permissions.areWritableByOthers,
            !folder.isOnReadOnlyFileSystem
        else { return nil }
        return String(permissions.rawValue & 0o777, radix: 8)
    }
}

extension FilePermissions {
    var areWritableByOthers: Bool { rawValue & 0o022 != 0 }
}
