import FoundationEssentials
import Glibc
package import OfferCore
import OfferFiles
import SystemPackage

/// The file of the audit trail: a regular file, or a pipe or device that another program reads.
///
/// Several processes may append to the same file, for example during a restart without downtime. Each takes a lock, reads the
/// last line that the others have added, and then writes. After a rename, such as by logrotate, the next line goes to a new
/// file.
package final class AuditFile: AuditStore {
    private struct Open {
        let descriptor: FileDescriptor
        let isRegular: Bool
    }

    private let path: FilePath
    private let isSynced: Bool
    private let rotatesAtBytes: Int64?
    private let now: @Sendable () -> Timestamp
    private var open: Open?
    private var chain = AuditChain.beginning
    /// The offset of the end of the last line that this process has written or read. Anything beyond it is an unfinished line,
    /// or was written by another process since then.
    private var end: Int64 = 0
    package private(set) var warning: Diagnostic?

    /// - Parameters:
    ///   - isSynced: whether lines count as written only once they are on the disk, not merely in the kernel.
    ///   - rotatesAtBytes: the size at which the file is renamed and a new one started; nil means never.
    package init(
        path: String, isSynced: Bool, rotatesAtBytes: Int64? = nil,
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.path = FilePath(path)
        self.isSynced = isSynced
        self.rotatesAtBytes = rotatesAtBytes
        self.now = now
    }

    deinit { try? open?.descriptor.close() }

    package func append(_ write: (inout [UInt8], inout AuditChain) throws -> Void) throws(AuditFault) {
        do {
            var file = try lockedFile()
            if file.isRegular, let limit = rotatesAtBytes, end >= limit {
                rotate()
                file = try lockedFile()
            }
            defer { if file.isRegular { try? Self.lock(file.descriptor, F_UNLCK) } }
            try append(to: file, write)
        } catch let fault as AuditFault {
            closeFile()
            throw fault
        } catch {
            closeFile()
            throw AuditFault("\(path) cannot be written (\(error))", isSetup: Self.isSetup(error))
        }
    }

    /// Closes the file so that the next append reopens it. The fault may affect only the open file, not the file that now has
    /// this name.
    private func closeFile() {
        try? open?.descriptor.close()
        open = nil
    }

    /// Whether an operator has to fix the cause, such as a missing or read-only folder.
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
            try next.append(to: &text) { writer in
                writer.member("time", utf8: now().iso8601)
                writer.member("event", "begin")
                writer.member("previous", hexadecimal: chain.hash)
            }
        }
        try write(&text, &next)
        do {
            try file.descriptor.writeAll(text)
            if isSynced, file.isRegular { try Self.sync(file.descriptor) }
        } catch {
            // The responses for these lines are not sent, so the lines are removed. If that fails too, the next process
            // to open the file removes the unfinished line.
            if file.isRegular { try? file.descriptor.resize(to: end) }
            throw error
        }
        chain = next
        end += Int64(text.count)
    }

    // MARK: File

    /// Opens and locks the file that now has this name, and sets ``chain`` and ``end`` to match its last line.
    private func lockedFile() throws -> Open {
        while true {
            let file = try open ?? openFile()
            open = file
            guard file.isRegular else { return file }
            try Self.lock(file.descriptor, F_WRLCK)
            let ours = try file.descriptor.stat()
            try catchUp(file, size: Int64(ours.size))
            let named = try? path.stat()
            if let named, named.inode == ours.inode, named.deviceID == ours.deviceID { return file }
            // The file was renamed or removed, so the chain continues in a new one.
            closeFile()
        }
    }

    private func openFile() throws -> Open {
        let isRegular = (try? path.stat())?.type ?? .regular == .regular
        // Non-blocking, because opening a pipe without a reader would otherwise wait for one.
        var options: FileDescriptor.OpenOptions = [.append, .closeOnExec, .nonBlocking]
        if isRegular { options.insert(.create) }
        let descriptor = try FileDescriptor.open(
            path, isRegular ? .readWrite : .writeOnly, options: options, permissions: .ownerReadWrite)
        do {
            let flags = fcntl(descriptor.rawValue, F_GETFL)
            guard flags >= 0, fcntl(descriptor.rawValue, F_SETFL, flags & ~O_NONBLOCK) == 0 else {
                throw Errno(rawValue: errno)
            }
            if isRegular, isSynced {
                let folder = try FileDescriptor.open(path.folder, .readOnly, options: [.directory, .closeOnExec])
                try folder.closeAfter { try Self.sync(folder) }
            }
        } catch {
            try? descriptor.close()
            throw error
        }
        end = 0
        return Open(descriptor: descriptor, isRegular: isRegular)
    }

    /// Reads the last line, unless this process wrote it, and removes any unfinished line after it.
    private func catchUp(_ file: Open, size: Int64) throws {
        guard size != end || size == 0 else { return }
        let tail = try AuditTail(file.descriptor, size: size)
        switch tail.content {
        case .nothing, .unfinished:
            // The chain continues from its latest line, which this process or another one may have written to a file
            // that has since been renamed.
            chain = latestRotatedChain()
        case .line(let line):
            chain = line.chain
        case .somethingElse:
            throw Self.notATrail(path)
        }
        end = tail.end
        guard end < size else { return }
        do { try file.descriptor.resize(to: end) } catch {
            throw AuditFault("\(path) ends with an unfinished line that cannot be removed (\(error))", isSetup: true)
        }
    }

    /// Finds where the chain continues: after the last line that this process knows or, if it knows none, after the
    /// newest rotated file. Other processes may have continued the chain in files that have since been renamed.
    private func latestRotatedChain() -> AuditChain {
        let trails = rotatedTrails()
        var chain = chain.number > 0 ? chain : trails.first?.chain ?? .beginning
        while let next = trails.first(where: { $0.previous == chain.hash && $0.chain.number > chain.number }) {
            chain = next.chain
        }
        return chain
    }

    /// Lists the rotated files of the trail, such as `audit.jsonl.1` or `audit.jsonl-20260101`, newest first.
    private func rotatedTrails() -> [RotatedTrail] {
        guard let name = path.lastComponent?.string,
            let names = try? FileManager.default.contentsOfDirectory(atPath: path.folder.string)
        else { return [] }
        let trails = names.filter { $0.hasPrefix(name + ".") || $0.hasPrefix(name + "-") }
            .compactMap { RotatedTrail(path.folder.appending($0)) }
        return trails.sorted { $1.changed.lexicographicallyPrecedes($0.changed) }
    }

    /// Renames the file, with the number of its last line as the suffix. A renamed file is never written, removed or
    /// replaced. If renaming fails, the file keeps growing, because a failed rename must not stop signing.
    private func rotate() {
        let number = String(chain.number)
        let name = "\(path).\(String(repeating: "0", count: max(0, 12 - number.count)))\(number)"
        let taken = (0..<100).prefix { (try? FilePath(Self.variant($0, of: name)).stat()) != nil }.count
        if unsafe rename(path.string, Self.variant(taken, of: name)) == 0 {
            warning = nil
        } else {
            warning = Diagnostic(
                "the audit trail \(path) has reached its size limit but cannot be renamed (\(Errno(rawValue: errno)))",
                hint: "let the service write to its folder, or unset SUBSCRIPTION_OFFERS_AUDIT_ROTATE_MB")
        }
    }

    /// The name for a rotated file if `number` files with the same suffix already exist, as can happen after a trail
    /// has been restarted.
    private static func variant(_ number: Int, of name: String) -> String {
        number == 0 ? name : "\(name)-\(number + 1)"
    }

    // MARK: System calls

    /// Linux's `F_OFD_SETLKW`, which Swift does not import.
    private static let waitForLock: Int32 = 38

    /// Locks the open file against other processes. Taking the lock requires write access to the file.
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
