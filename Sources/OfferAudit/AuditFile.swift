import Glibc
package import OfferCore
package import OfferCrypto
import OfferFiles
import SystemPackage

/// The file of the audit trail: a regular file, or a pipe or device that another program reads.
///
/// Several processes may append to the same file, for example during a restart without downtime. Each takes a lock,
/// reads the lines that the others have added, and then writes. After a rename, such as by logrotate, the next line
/// goes to a new file.
///
/// The process is also a witness. Before each write, it checks that the file still contains the last line that it
/// knows. If not, the next line marks the break. A file that cannot be continued is renamed, and the break is marked in
/// a new one.
package final class AuditFile: AuditStore {
    private struct Open {
        let descriptor: FileDescriptor
        let isRegular: Bool
    }

    private let path: FilePath
    private let isSynced: Bool
    private let rotatesAtBytes: Int64?
    private let seal: AuditSeal
    private let rules: AuditRules
    private let now: @Sendable () -> Timestamp
    private let lock: AuditLock
    private var isLockReady = false
    /// The result of reading the file before the first lock.
    private var checked: AuditOpening?
    private var open: Open?
    /// The identity of the open file.
    private var identity: FileIdentity?
    private var chain = AuditChain.beginning
    /// The last line that this process knows; nil while it knows no line in a regular file.
    private var known: KnownLine?
    /// The offset of the end of the last line in the open file. Anything beyond it is an unfinished line, or was
    /// written later by another process.
    private var end: Int64 = 0
    /// The break that the next line marks.
    private var foundBreak: AuditBreak?
    /// The number of the last known line if this write found that the file with that line is missing.
    private var lastGone: UInt64?
    private var findings: [AuditFinding] = []
    private var rotationProblem: Diagnostic?
    /// The number of the last line that marks an unacknowledged break.
    private var openBreak: UInt64?

    /// - Parameters:
    ///   - isSynced: whether lines count as written only once they are on disk, not only in the kernel's buffers.
    ///   - rotatesAtBytes: the size at which the file is renamed and a new one started; nil means never.
    ///   - seal: the method by which this process links its lines.
    ///   - key: the key that verifies other processes' lines with an HMAC; nil to accept them unverified.
    package init(
        path: String, isSynced: Bool, rotatesAtBytes: Int64? = nil, seal: AuditSeal = .hash, key: HMACSHA256Key? = nil,
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.path = FilePath(path)
        self.isSynced = isSynced
        self.rotatesAtBytes = rotatesAtBytes
        self.seal = seal
        rules = AuditRules(key: key, needsKey: seal.isKeyed)
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
    /// - Parameter isService: whether this process may rotate the file and create the lock file.
    private func withFile(isService: Bool = true, _ body: (Open) throws -> Void) throws(AuditFault) {
        do {
            lastGone = nil
            guard isRegular else { return try body(open ?? openFile()) }
            try takeLock(isCreated: isService)
            defer { lock.release() }
            var file = try currentFile()
            if isService, file.isRegular, let limit = rotatesAtBytes, end >= limit, foundBreak == nil {
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

    /// True if the trail is, or will be, a regular file.
    private var isRegular: Bool {
        if let open { return open.isRegular }
        let type = (try? path.stat())?.type ?? .regular
        // No lock file is created beside a folder that has the trail's name.
        return type == .regular
    }

    private func takeLock(isCreated: Bool) throws {
        // Check first, so that no lock file is left beside a file that is not a trail.
        if !isLockReady { checked = try Self.checkFile(path, rules: rules) }
        try lock.take(isCreated: isCreated)
        isLockReady = true
    }

    /// Appends a line that acknowledges all breaks so far. Only the account that owns the trail can do so, because the
    /// service could not continue a file of another account.
    /// - Parameter user: the name of the person who acknowledges the breaks; nil if it is unknown.
    /// - Returns: the number of the last line that marked an unacknowledged break; nil if there is none near the end of
    ///   the file.
    package func acknowledgeBreaks(user: String?) throws(AuditFault) -> UInt64? {
        try requireOwnTrail()
        var acknowledged: UInt64?
        try withFile(isService: false) { file in
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

    private func requireOwnTrail() throws(AuditFault) {
        do {
            let newest = RotatedTrails(of: path).paths.first
            for file in [path, AuditLock.path(of: path), newest ?? path] { try AuditLock.requireOwn(file) }
        } catch {
            throw AuditFault(error)
        }
    }

    /// Closes the file so that the next append reopens it. The fault may affect only the open file, not the file that
    /// now has the trail's name.
    private func closeFile() {
        try? open?.descriptor.close()
        open = nil
    }

    /// Returns true if an operator has to fix the cause, such as a missing or read-only folder.
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
        if let lastGone, foundBreak == nil { findings.append(.fileGone(lastLine: lastGone)) }
        if foundBreak != nil { openBreak = lineOfBreak }
        foundBreak = nil
        chain = next
        end += Int64(text.count)
        if file.isRegular { note(text) }
    }

    /// Remembers the last of the lines that were just written.
    private func note(_ text: [UInt8]) {
        let lineFeed = UInt8(ascii: "\n")
        guard let begin = text.dropLast().lastIndex(of: lineFeed).map({ $0 + 1 }) ?? text.indices.first else { return }
        known = KnownLine(text: Array(text[begin...]), file: identity, end: end)
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

    /// Opens the file that now has the trail's name, and reads the lines of other processes. Called under the lock.
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
            known?.file = nil
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
        guard let known else { return try openFirst(file, size: size) }
        guard known.file == identity else {
            return try goOn(after: known, in: file, size: size, holder: RotatedTrails(of: path).holder(of: known))
        }
        if try known.isHeld(by: file.descriptor) {
            end = known.end
            if size > end { try readOn(file, size: size, from: chain) }
        } else if let holder = RotatedTrails(of: path).holder(of: known) {
            // The file was copied and then emptied.
            try goOn(after: known, in: file, size: size, holder: holder)
        } else {
            try noteBreak(after: chain, file, size: size)
        }
    }

    /// Continues the chain after the last line of the first file that this process opens.
    private func openFirst(_ file: Open, size: Int64) throws {
        let tail = try AuditTail(file.descriptor, size: size)
        try Self.requireTrail(tail, path)
        end = tail.end
        if case .line(let line) = tail.content {
            // The service waits for the lock, so only the newest lines are read under it.
            let opening =
                try checked?.continued(in: file.descriptor, to: tail)
                ?? AuditOpening(of: file.descriptor, tail, rules: rules)
            checked = nil
            try opening.requireOwnKey(path)
            chain = line.chain
            known = KnownLine(text: line.textWithLineFeed, file: identity, end: end)
            openBreak = opening.openBreak
            if let forgery = opening.forgery { note(forgery) }
        } else {
            // Someone may have restored old files, so the newest file is not always the last one of the trail.
            chain = RotatedTrails(of: path).end ?? .beginning
        }
        try removeUnfinishedLine(file, size: size)
    }

    /// Continues the chain in a file that began after the last known line.
    /// - Parameter holder: the rotated file that holds the last known line; nil if there is none.
    private func goOn(after known: KnownLine, in file: Open, size: Int64, holder: FilePath?) throws {
        let tail = try AuditTail(file.descriptor, size: size)
        guard tail.isTrail else { return try noteBreak(after: chain, file, size: size) }
        end = 0
        lastGone = holder == nil ? chain.number : nil
        let trails = RotatedTrails(of: path)
        guard tail.chain != nil else {
            if foundBreak == nil { chain = trails.end(from: chain, in: holder) }
            return try removeUnfinishedLine(file, size: size)
        }
        // Another process began this file.
        let previous = try AuditTail.firstLine(of: file.descriptor)?.previous
        let states = previous == chain.hash ? [chain] : trails.states(from: chain)
        guard let state = states.last(where: { $0.hash == previous }) else {
            return try noteBreak(after: chain, file, size: size)
        }
        try readOn(file, size: size, from: state)
    }

    /// Reads the lines between ``end`` and the end of the file.
    /// - Parameter state: the state of the chain before these lines.
    private func readOn(_ file: Open, size: Int64, from state: AuditChain) throws {
        var reading = AuditReading(from: state, openBreak: openBreak, rules: rules)
        let read = try AuditTail.forEachLine(of: file.descriptor, from: end, to: size) { try reading.take($0, end: $1) }
        if let last = reading.last {
            chain = reading.chain
            known = KnownLine(text: last.text, file: identity, end: last.end)
        }
        openBreak = reading.openBreak
        // Another process already marked the break that this one found.
        if !reading.marks.isEmpty { foundBreak = nil }
        findings += reading.marks.map { .markedElsewhere(line: $0) }
        guard !reading.isBroken, size - read <= AuditTail.maximumSize else {
            return try noteBreak(after: reading.chain, file, size: size)
        }
        end = read
        try removeUnfinishedLine(file, size: size)
    }

    /// Notes a break after a known line, unless another process has already marked it in the file. In that case, reads
    /// on from the mark.
    private func noteBreak(after last: AuditChain, _ file: Open, size: Int64) throws {
        if let mark = try AuditTail.mark(after: last, in: file.descriptor, size: size, rules: rules) {
            end = mark
            return try readOn(file, size: size, from: last)
        }
        let tail = try AuditTail(file.descriptor, size: size)
        note(AuditBreak(known: last, found: tail.chain))
        guard tail.isTrail else { return try moveAside(tail) }
        end = tail.end
        try removeUnfinishedLine(file, size: size)
    }

    /// Reports a break. ``append(to:_:)`` marks it, now or as soon as the file can be written.
    private func note(_ found: AuditBreak) {
        guard foundBreak == nil else { return }
        foundBreak = found
        findings.append(.broken(found))
    }

    /// Renames a file that does not end with an audit line, so that nothing in it is lost and the chain continues in a
    /// new file.
    private func moveAside(_ tail: AuditTail) throws {
        // The file may already have another name.
        guard let named = try? path.stat(), FileIdentity(named) == identity else { return }
        do { try RotatedTrails.rename(path, adding: "damaged-", chain.number) } catch {
            try Self.requireTrail(tail, path)
        }
    }

    private func removeUnfinishedLine(_ file: Open, size: Int64) throws {
        guard end < size else { return }
        guard size - end <= AuditTail.maximumSize else {
            throw AuditFault("\(path) ends with an unfinished line that is too long to be an audit line", isSetup: true)
        }
        do { try file.descriptor.resize(to: end) } catch {
            throw AuditFault("\(path) ends with an unfinished line that cannot be removed (\(error))", isSetup: true)
        }
    }

    // MARK: Rotation

    /// Renames the file, with the number of its last line as the suffix. A renamed file is never written to, removed or
    /// replaced. If renaming fails, the file keeps growing, because a failed rename must not stop signing.
    private func rotate() {
        do {
            try RotatedTrails.rename(path, adding: "", chain.number)
            rotationProblem = nil
        } catch {
            rotationProblem = Diagnostic(
                "the audit trail \(path) has reached its size limit but cannot be renamed (\(error))",
                hint: "let the service write to its folder, or unset SUBSCRIPTION_OFFERS_AUDIT_ROTATE_MB")
        }
    }

    private static func sync(_ file: FileDescriptor) throws {
        guard fsync(file.rawValue) == 0 else { throw Errno(rawValue: errno) }
    }
}
