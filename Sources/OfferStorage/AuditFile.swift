import FoundationEssentials
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
        let descriptor: FileDescriptor
        let isOrdinary: Bool
    }

    private let path: FilePath
    private let isSynced: Bool
    private let rotatesAtBytes: Int64?
    private let sha256: AuditChain.SHA256
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
        sha256: @escaping AuditChain.SHA256, now: @escaping @Sendable () -> Timestamp
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
                rotate()
                file = try lockedFile()
            }
            defer { if file.isOrdinary { try? Self.lock(file.descriptor, F_UNLCK) } }
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
    static func isSetup(_ error: any Error) -> Bool {
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
                writer.member("previous", hexadecimal: chain.hash)
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
            try Self.lock(file.descriptor, F_WRLCK)
            let ours = try file.descriptor.stat()
            try catchUp(file, size: Int64(ours.size))
            let named = try? path.stat()
            if let named, named.inode == ours.inode, named.deviceID == ours.deviceID { return file }
            // Renamed or removed: the chain goes on in a new file.
            forget()
        }
    }

    private func openFile() throws -> Open {
        let isOrdinary = (try? path.stat())?.type ?? .regular == .regular
        // Somebody has to read a pipe already: without, it would be waited for.
        var options: FileDescriptor.OpenOptions = [.append, .closeOnExec, .nonBlocking]
        if isOrdinary { options.insert(.create) }
        let descriptor = try FileDescriptor.open(
            path, isOrdinary ? .readWrite : .writeOnly, options: options, permissions: .ownerReadWrite)
        do {
            let flags = fcntl(descriptor.rawValue, F_GETFL)
            guard flags >= 0, fcntl(descriptor.rawValue, F_SETFL, flags & ~O_NONBLOCK) == 0 else {
                throw Errno(rawValue: errno)
            }
            if isOrdinary, isSynced {
                let folder = try FileDescriptor.open(path.folder, .readOnly, options: [.directory, .closeOnExec])
                try folder.closeAfter { try Self.sync(folder) }
            }
        } catch {
            try? descriptor.close()
            throw error
        }
        end = 0
        return Open(descriptor: descriptor, isOrdinary: isOrdinary)
    }

    /// Reads the last line, unless it is our own, and cuts off what is unfinished behind it.
    private func catchUp(_ file: Open, size: Int64) throws {
        guard size != end || size == 0 else { return }
        let tail = try AuditTail(file.descriptor, size: size)
        switch tail.content {
        case .nothing, .unfinished:
            // The chain goes on from wherever it was carried last: by us, or by others into a file that was renamed.
            chain = chainOfRenamedFiles()
        case .line(let line):
            chain = line.chain
        case .somethingElse:
            throw Self.notATrail(path)
        }
        end = tail.end
        guard end < size else { return }
        do { try file.descriptor.resize(to: end) } catch {
            throw AuditFault("\(path) ends with an unfinished line, which cannot be cut off (\(error))", isSetup: true)
        }
    }

    /// Where the chain stands that we had last, or else that of the file that was written last: others may have carried it on
    /// in files that had the name and have been renamed since.
    private func chainOfRenamedFiles() -> AuditChain {
        let renamed = renamedFiles()
        var chain = chain.number > 0 ? chain : renamed.first?.chain ?? .beginning
        while let next = renamed.first(where: { $0.previous == chain.hash && $0.chain.number > chain.number }) {
            chain = next.chain
        }
        return chain
    }

    /// Those that had the name before, `audit.jsonl.1` or `audit.jsonl-20260101`, and are trails; the newest first.
    private func renamedFiles() -> [RenamedTrail] {
        guard let name = path.lastComponent?.string,
            let names = try? FileManager.default.contentsOfDirectory(atPath: path.folder.string)
        else { return [] }
        let renamed = names.filter { $0.hasPrefix(name + ".") || $0.hasPrefix(name + "-") }
            .compactMap { RenamedTrail(path.folder.appending($0)) }
        return renamed.sorted { $1.changed.lexicographicallyPrecedes($0.changed) }
    }

    /// Gives the file the number of its last line for an ending. It is never written again, nor removed, nor replaced. Where
    /// it cannot be renamed, it grows on: that is no reason to sign nothing.
    private func rotate() {
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

    /// F_OFD_SETLKW of Linux, which Swift does not see.
    private static let waitForLock: Int32 = 38

    /// Of the open file: no other process has it then, and only who may write the file can take it.
    private static func lock(_ file: FileDescriptor, _ type: Int32) throws {
        var lock = Glibc.flock()
        lock.l_type = Int16(type)
        while unsafe fcntl(file.rawValue, waitForLock, &lock) != 0 {
            guard errno == EINTR else { throw Errno(rawValue: errno) }
        }
    }

    private static func sync(_ file: FileDescriptor) throws {
        guard fsync(file.rawValue) == 0 else { throw Errno(rawValue: errno) }
    }
}
