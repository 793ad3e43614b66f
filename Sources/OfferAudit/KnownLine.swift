import SystemPackage

/// The last line of the trail that a process has written or read, and its location.
struct KnownLine {
    /// The text of the line, with the line feed.
    let text: [UInt8]
    /// The identity of the file; nil once the file no longer has the trail's name. A new file may then get the same
    /// identity.
    var file: FileIdentity?
    /// The offset after the line.
    let end: Int64

    /// Returns true if a file contains the line at its offset.
    func isHeld(by file: FileDescriptor) throws -> Bool {
        try AuditTail.read(file, from: end - Int64(text.count), count: text.count) == text
    }

    /// Returns true if the file at this path contains the line at its offset.
    func isHeld(by path: FilePath) -> Bool {
        guard let file = try? FileDescriptor.open(path, .readOnly, options: [.nonBlocking, .closeOnExec]) else {
            return false
        }
        return (try? file.closeAfter { try isHeld(by: file) }) ?? false
    }
}

/// The identity of a file, regardless of its name.
struct FileIdentity: Hashable {
    private let device: DeviceID
    private let inode: Inode

    init(_ stat: Stat) {
        device = stat.deviceID
        inode = stat.inode
    }
}
