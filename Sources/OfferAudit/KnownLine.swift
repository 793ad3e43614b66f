import SystemPackage

/// The last line of the trail that a process has written or read, and its place.
struct KnownLine {
    /// The text of the line, with the line feed.
    let text: [UInt8]
    /// nil once the file no longer has the trail's name. Its identity may then be given to a new file.
    var file: FileIdentity?
    /// The offset after the line.
    let end: Int64

    /// Whether a file holds the line at its place.
    func isHeld(by file: FileDescriptor) throws -> Bool {
        try AuditTail.read(file, from: end - Int64(text.count), count: text.count) == text
    }

    /// Whether the file with this name holds the line at its place.
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
