import Glibc
package import OfferCore
import SystemPackage

/// The file of the audit trail: an ordinary one, or a pipe or device that somebody else keeps.
///
/// Several processes may append to the same file, as they do while one takes over from another: each holds a lock while it
/// writes, and first reads what others have added. A file that was renamed, as logrotate does, is noticed at the next line,
/// which goes to a new file.
package final class AuditFile: AuditStore {
    private struct Open {
        let file: FilePath
        let descriptor: FileDescriptor
        let isOrdinary: Bool
    }

    private let path: FilePath
    private let isSynced: Bool
    private let rotatesAtBytes: Int64?
    private let sha256: @Sendable ([UInt8]) throws -> [UInt8]
    private let now: @Sendable () -> Timestamp
    private var open: Open?
    private var chain = AuditChain.beginning
    /// Where our last line ends. What is behind that was written by others, or cut off.
    private var end: Int64 = 0
    package private(set) var warning: SetupProblem?

    /// - Parameters:
    ///   - isSynced: whether lines are on the disk before they count as written, and not only with the kernel.
    ///   - rotatesAtBytes: when the file has that size, it is renamed, and a new one begun.
    package init(
        path: String, isSynced: Bool, rotatesAtBytes: Int64? = nil,
        sha256: @escaping @Sendable ([UInt8]) throws -> [UInt8], now: @escaping @Sendable () -> Timestamp
    ) {
        self.path = FilePath(path)
        self.isSynced = isSynced
        self.rotatesAtBytes = rotatesAtBytes
        self.sha256 = sha256
        self.now = now
    }

    deinit { try? open?.descriptor.close() }

    package func append(_ write: (inout [UInt8], inout AuditChain) throws -> Void) throws(AuditFault) {
        do {
            var file = try lockedFile()
            if file.isOrdinary, let limit = rotatesAtBytes, end >= limit {
                rotate(file)
                file = try lockedFile()
            }
            defer { if file.isOrdinary { flock(file.descriptor.rawValue, LOCK_UN) } }
            try append(to: file, write)
        } catch let fault as AuditFault {
            forget()
            throw fault
        } catch {
            forget()
            throw AuditFault("\(path) cannot be written (\(error))", isSetup: Self.isSetup(error))
        }
    }

    /// The next time it is opened anew: what is wrong may be with what is open, and not with what has that name now.
    private func forget() {
        try? open?.descriptor.close()
        open = nil
    }

    /// What does not pass by itself: there is no such folder, or it may not be written.
    private static func isSetup(_ error: any Error) -> Bool {
        switch error as? Errno {
        case .noSuchFileOrDirectory, .permissionDenied, .notPermitted, .isDirectory, .notDirectory, .readOnlyFileSystem,
            .fileNameTooLong, .tooManySymbolicLinkLevels:
            true
        default: false
        }
    }

    // MARK: Lines

    private func append(to file: Open, _ write: (inout [UInt8], inout AuditChain) throws -> Void) throws {
        var next = chain
        var text: [UInt8] = []
        if end == 0 {
            try next.append(to: &text, sha256: sha256) { writer in
                writer.member("time", utf8: now().iso8601)
                writer.member("event", "begin")
                writer.member("previous", utf8: Hexadecimal.utf8(of: chain.hash))
            }
        }
        try write(&text, &next)
        do {
            try file.descriptor.writeAll(text)
            if isSynced, file.isOrdinary { try Self.sync(file.descriptor) }
        } catch {
            // Nobody gets an answer for these lines, so they are not left behind. Where that fails too, whoever opens the
            // file next cuts off what is unfinished.
            if file.isOrdinary { try? file.descriptor.resize(to: end) }
            throw error
        }
        chain = next
        end += Int64(text.count)
    }

    // MARK: File

    /// The file that has the name now, locked, with ``chain`` and ``end`` as its last line has them.
    private func lockedFile() throws -> Open {
        while true {
            let file = try open ?? openFile()
            open = file
            guard file.isOrdinary else { return file }
            try Self.lock(file.descriptor)
            try catchUp(file)
            let named = try? path.stat()
            let ours = try file.descriptor.stat()
            if let named, named.inode == ours.inode, named.deviceID == ours.deviceID { return file }
            // Renamed or removed: the chain goes on in a new file.
            try file.descriptor.close()
            open = nil
        }
    }

    private func openFile() throws -> Open {
        let isOrdinary = (try? path.stat())?.type ?? .regular == .regular
        // Somebody has to read a pipe already: without, it would be waited for.
        var options: FileDescriptor.OpenOptions = [.append, .closeOnExec, .nonBlocking]
        if isOrdinary { options.insert(.create) }
        let descriptor = try FileDescriptor.open(
            path, isOrdinary ? .readWrite : .writeOnly, options: options, permissions: .ownerReadWrite)
        let flags = fcntl(descriptor.rawValue, F_GETFL)
        guard flags >= 0, fcntl(descriptor.rawValue, F_SETFL, flags & ~O_NONBLOCK) == 0 else {
            throw Errno(rawValue: errno)
        }
        end = 0
        if isOrdinary, isSynced {
            let folder = try FileDescriptor.open(
                path.removingLastComponent().isEmpty ? "." : path.removingLastComponent(), .readOnly,
                options: [.directory, .closeOnExec])
            try folder.closeAfter { try Self.sync(folder) }
        }
        return Open(file: path, descriptor: descriptor, isOrdinary: isOrdinary)
    }

    /// Reads the last line, unless it is our own, and cuts off what is unfinished behind it.
    private func catchUp(_ file: Open) throws {
        let size = Int64(try file.descriptor.stat().size)
        guard size != end else { return }
        if size == 0 {
            // Emptied by somebody. The chain goes on, and shows it.
            end = 0
            return
        }
        let tail = try Self.read(
            file.descriptor, from: max(0, size - Self.maximumTail), count: Int(min(size, Self.maximumTail)))
        guard let lastEnd = tail.lastIndex(of: Self.lineFeed) else {
            guard size < Self.maximumTail, tail.starts(with: #"{"line":"#.utf8) else { throw notATrail }
            try file.descriptor.resize(to: 0)
            end = 0
            return
        }
        let begin = tail[..<lastEnd].lastIndex(of: Self.lineFeed).map { $0 + 1 } ?? 0
        guard let line = AuditLine(tail[begin..<lastEnd]) else { throw notATrail }
        end = size - Int64(tail.count - lastEnd - 1)
        if end < size { try file.descriptor.resize(to: end) }
        chain = line.chain
    }

    private var notATrail: AuditFault {
        AuditFault("\(path) does not end as an audit trail does", isSetup: true)
    }

    /// No line is as long as that.
    private static let maximumTail: Int64 = 64 * 1024
    private static let lineFeed = UInt8(ascii: "\n")

    /// Gives the file the number of its last line for an ending. It is never written again, nor removed, nor replaced. Where
    /// it cannot be renamed, it grows on: that is no reason to sign nothing.
    private func rotate(_ file: Open) {
        let number = String(chain.number)
        let name = "\(path).\(String(repeating: "0", count: max(0, 12 - number.count)))\(number)"
        let taken = (0..<100).prefix { (try? FilePath(Self.variant($0, of: name)).stat()) != nil }.count
        if unsafe rename(path.string, Self.variant(taken, of: name)) == 0 {
            warning = nil
        } else {
            warning = SetupProblem(
                "the audit trail \(path) is to be renamed at its size, and cannot be (\(Errno(rawValue: errno)))",
                hint: "let the service's own user write to its folder, or unset SUBSCRIPTION_OFFERS_AUDIT_ROTATE_MB")
        }
    }

    /// A name that nothing has yet, where a trail that began anew comes to the same number.
    private static func variant(_ number: Int, of name: String) -> String {
        number == 0 ? name : "\(name)-\(number + 1)"
    }

    // MARK: System calls

    private static func read(_ file: FileDescriptor, from offset: Int64, count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let read = try unsafe bytes.withUnsafeMutableBytes { buffer in
                try unsafe file.read(
                    fromAbsoluteOffset: offset + Int64(done),
                    into: UnsafeMutableRawBufferPointer(rebasing: buffer[done...]))
            }
            guard read > 0 else { break }
            done += read
        }
        return Array(bytes.prefix(done))
    }

    private static func lock(_ file: FileDescriptor) throws {
        while flock(file.rawValue, LOCK_EX) != 0 {
            guard errno == EINTR else { throw Errno(rawValue: errno) }
        }
    }

    private static func sync(_ file: FileDescriptor) throws {
        guard fsync(file.rawValue) == 0 else { throw Errno(rawValue: errno) }
    }
}
