import Glibc
package import OfferCore
package import OfferCrypto
import OfferFiles
import SystemPackage

/// The file of the audit trail: a regular file, or a pipe or device that another program reads.
///
/// Several processes may append to the same file, for example during a restart without downtime. Each takes a lock, reads the
/// lines that the others have added, and then writes. After a rename, such as by logrotate, the next line goes to a new
/// file.
///
/// The process is also a witness: before each write it checks that the file still holds the last line that it knows. If
/// not, the next line marks the break.
package final class AuditFile: AuditStore {
    private struct Open {
        let descriptor: FileDescriptor
        let isRegular: Bool
    }

    /// The place of the last known line.
    private struct Place {
        /// nil once the file no longer has the trail's name. Its identity may then be given to a new file.
        var file: FileIdentity?
        /// The offset after the line.
        var end: Int64
    }

    private let path: FilePath
    private let isSynced: Bool
    private let rotatesAtBytes: Int64?
    private let seal: AuditSeal
    private let key: HMACSHA256Key?
    private let now: @Sendable () -> Timestamp
    private let lock: AuditLock
    private var isLockReady = false
    private var open: Open?
    /// The identity of the open file.
    private var identity: FileIdentity?
    private var chain = AuditChain.beginning
    /// nil while no line in a regular file is known.
    private var place: Place?
    /// The offset of the end of the last line in the open file. Anything beyond it is an unfinished line, or was written by
    /// another process since then.
    private var end: Int64 = 0
    /// What this write has noticed about earlier lines, until the write has succeeded.
    private var foundBreak: AuditBreak?
    private var isFileGone = false
    private var findings: [AuditFinding] = []
    private var rotationProblem: Diagnostic?
    /// The number of the last line that marks a break which no one has acknowledged.
    private var openBreak: UInt64?

    /// - Parameters:
    ///   - isSynced: whether lines count as written only once they are on the disk, not merely in the kernel.
    ///   - rotatesAtBytes: the size at which the file is renamed and a new one started; nil means never.
    ///   - seal: how this process links its lines.
    ///   - key: the key of the lines of other processes that have an HMAC; nil to accept them unverified.
    package init(
        path: String, isSynced: Bool, rotatesAtBytes: Int64? = nil, seal: AuditSeal = .hash, key: HMACSHA256Key? = nil,
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.path = FilePath(path)
        self.isSynced = isSynced
        self.rotatesAtBytes = rotatesAtBytes
        self.seal = seal
        self.key = key
        self.now = now
        lock = AuditLock(of: self.path)
    }

    deinit { try? open?.descriptor.close() }

    package var head: AuditChain { chain }

    package var problems: [Diagnostic] {
        [openBreak.map(AuditBreak.problem(line:)), rotationProblem].compactMap(\.self)
    }

    package func takeFindings() -> [AuditFinding] {
        defer { findings = [] }
        return findings
    }

    package func append(_ write: (inout [UInt8], inout AuditChain) throws -> Void) throws(AuditFault) {
        try withFile { file in try append(to: file, write) }
    }

    package func checkLines() throws(AuditFault) {
        guard open?.isRegular == true else { return }
        try withFile { file in
            if foundBreak != nil { try append(to: file) { _, _ in } }
        }
    }

    /// Calls `body` with the open file, under the lock if it is a regular file.
    private func withFile(_ body: (Open) throws -> Void) throws(AuditFault) {
        do {
            (foundBreak, isFileGone) = (nil, false)
            guard isRegular else { return try body(open ?? openFile()) }
            try takeLock()
            defer { lock.release() }
            var file = try currentFile()
            if file.isRegular, let limit = rotatesAtBytes, end >= limit, foundBreak == nil {
                rotate()
                file = try currentFile()
            }
            try body(file)
        } catch let fault as AuditFault {
            closeFile()
            throw fault
        } catch {
            closeFile()
            throw AuditFault("\(path) cannot be written (\(error))", isSetup: Self.isSetup(error))
        }
    }

    /// Whether the trail is, or will be, a regular file.
    private var isRegular: Bool {
        if let open { return open.isRegular }
        let type = (try? path.stat())?.type ?? .regular
        // The lock is not made beside a folder that has the trail's name.
        return type == .regular
    }

    private func takeLock() throws {
        // Leaves nothing behind beside a file that is not a trail.
        if !isLockReady { try Self.checkFile(path) }
        try lock.take()
        isLockReady = true
    }

    /// Appends a line that acknowledges all breaks so far.
    /// - Parameter user: the name of the person; nil if it is unknown.
    /// - Returns: the number of the last line that marks a break; nil if there is none near the end of the file.
    package func acknowledgeBreaks(user: String?) throws(AuditFault) -> UInt64? {
        var acknowledged: UInt64?
        try withFile { file in
            guard file.isRegular else { throw AuditFault("\(path) is not a regular file", isSetup: true) }
            acknowledged = openBreak
            try append(to: file) { text, chain in
                try appendEvent(.breakAcknowledged, to: &text, &chain) { writer in
                    if let user { writer.member("user", user) }
                }
            }
            openBreak = nil
        }
        return acknowledged
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
        var next = foundBreak?.continuation ?? chain
        next.number = max(next.number, chain.number)
        next.seal = seal
        var text: [UInt8] = []
        if end == 0 {
            let previous = next.hash
            try appendEvent(.begin, to: &text, &next) { $0.member("previous", hexadecimal: previous) }
        }
        if let foundBreak { try appendEvent(.broken, to: &text, &next, foundBreak.write) }
        let lineOfBreak = next.number
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
        let lastKnown = chain.number
        chain = next
        end += Int64(text.count)
        if file.isRegular { place = Place(file: identity, end: end) }
        if isFileGone { findings.append(.fileGone(lastLine: lastKnown)) }
        guard let foundBreak else { return }
        findings.append(.broken(foundBreak, line: lineOfBreak))
        openBreak = lineOfBreak
    }

    private func appendEvent(
        _ event: AuditEvent, to text: inout [UInt8], _ chain: inout AuditChain,
        _ writeMembers: (inout JSONWriter) -> Void
    ) throws {
        try chain.append(to: &text) { writer in
            writer.member("time", utf8: now().iso8601)
            writer.member("event", event.rawValue)
            writeMembers(&writer)
        }
    }

    // MARK: File

    /// Opens the file that now has this name, and reads the lines of other processes. It is called under the lock.
    private func currentFile() throws -> Open {
        while true {
            let file = try open ?? openFile()
            open = file
            guard file.isRegular else { return file }
            let ours = try file.descriptor.stat()
            identity = FileIdentity(ours)
            try catchUp(file, size: Int64(ours.size))
            if let named = try? path.stat(), FileIdentity(named) == identity { return file }
            // The file was renamed or removed, so the chain continues in a new one.
            place?.file = nil
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
        let file = Open(descriptor: descriptor, isRegular: isRegular)
        open = file
        return file
    }

    // MARK: The lines of other processes

    /// Checks that the last known line is still in the file, reads the lines after it, and removes any unfinished line.
    private func catchUp(_ file: Open, size: Int64) throws {
        guard let place, place.file == identity else { return try takeOver(file, size: size, isOther: true) }
        guard size >= place.end, try AuditTail.holds(chain.hash, endingAt: place.end, in: file.descriptor) else {
            // Unless the file was copied and then truncated, in which case a rotated file has the line.
            return try takeOver(file, size: size, isOther: false)
        }
        end = place.end
        if size > end { try readOn(file, size: size, from: chain) }
    }

    /// Continues the chain in a file that does not have the last known line, or in the first file of this process.
    /// - Parameter isOther: whether the last known line, if any, was in another file.
    private func takeOver(_ file: Open, size: Int64, isOther: Bool) throws {
        end = 0
        let tail = try AuditTail(file.descriptor, size: size)
        try Self.requireTrail(tail, path)
        switch tail.content {
        case .somethingElse, .tooLong: break
        case .line(let line):
            guard place != nil else { return try begin(after: line, in: file, tail, size: size) }
            let previous = try AuditTail.firstLine(of: file.descriptor)?.previous
            let states = RotatedTrails(of: path).states(from: chain)
            // Another process has begun this file.
            if let state = states.last(where: { $0.hash == previous }) {
                return try readOn(file, size: size, from: state)
            }
        case .nothing, .unfinished:
            let trails = RotatedTrails(of: path)
            let isKept = place == nil || trails.contain(chain)
            // A file that is emptied in place is a break, unless it was copied first.
            if isKept || isOther {
                isFileGone = !isKept
                chain = trails.states(from: chain).last ?? chain
                return try removeUnfinishedLine(file, size: size)
            }
        }
        try noteBreak(after: chain, file, size: size)
    }

    /// Continues the chain after the last line of the first file that this process opens.
    private func begin(after line: AuditLine, in file: Open, _ tail: AuditTail, size: Int64) throws {
        chain = line.chain
        end = tail.end
        place = Place(file: identity, end: end)
        openBreak = try AuditTail.openBreak(in: file.descriptor, end: end, needsKey: seal.isKeyed)
        try removeUnfinishedLine(file, size: size)
    }

    /// Reads the lines between ``end`` and the end of the file.
    /// - Parameter state: the state of the chain before these lines.
    private func readOn(_ file: Open, size: Int64, from state: AuditChain) throws {
        var reading = AuditReading(from: state, openBreak: openBreak, key: key, needsKey: seal.isKeyed)
        let read = try AuditTail.forEachLine(of: file.descriptor, from: end, to: size) { try reading.take($0) }
        if reading.isBroken { return try noteBreak(after: reading.chain, file, size: size) }
        chain = reading.chain
        openBreak = reading.openBreak
        end = read
        place = Place(file: identity, end: end)
        try removeUnfinishedLine(file, size: size)
    }

    /// Notes that the lines after a known one are not in the file. ``append(to:_:)`` marks the break.
    private func noteBreak(after known: AuditChain, _ file: Open, size: Int64) throws {
        let tail = try AuditTail(file.descriptor, size: size)
        try Self.requireTrail(tail, path)
        foundBreak = foundBreak ?? AuditBreak(known: known, found: tail.chain)
        end = tail.end
        try removeUnfinishedLine(file, size: size)
    }

    private func removeUnfinishedLine(_ file: Open, size: Int64) throws {
        guard end < size else { return }
        guard size - end <= AuditTail.maximumSize else {
            throw AuditFault("\(path) ends with an unfinished line that is too long to be one", isSetup: true)
        }
        do { try file.descriptor.resize(to: end) } catch {
            throw AuditFault("\(path) ends with an unfinished line that cannot be removed (\(error))", isSetup: true)
        }
    }

    // MARK: Rotation

    /// Renames the file, with the number of its last line as the suffix. A renamed file is never written, removed or
    /// replaced. If renaming fails, the file keeps growing, because a failed rename must not stop signing.
    private func rotate() {
        let number = String(chain.number)
        let name = "\(path).\(String(repeating: "0", count: max(0, 12 - number.count)))\(number)"
        let taken = (0..<100).prefix { (try? FilePath(Self.variant($0, of: name)).stat()) != nil }.count
        if unsafe rename(path.string, Self.variant(taken, of: name)) == 0 {
            rotationProblem = nil
        } else {
            rotationProblem = Diagnostic(
                "the audit trail \(path) has reached its size limit but cannot be renamed (\(Errno(rawValue: errno)))",
                hint: "let the service write to its folder, or unset SUBSCRIPTION_OFFERS_AUDIT_ROTATE_MB")
        }
    }

    /// The name for a rotated file if `number` files with the same suffix already exist, as can happen after a trail
    /// has been restarted.
    private static func variant(_ number: Int, of name: String) -> String {
        number == 0 ? name : "\(name)-\(number + 1)"
    }

    private static func sync(_ file: FileDescriptor) throws {
        guard fsync(file.rawValue) == 0 else { throw Errno(rawValue: errno) }
    }
}
