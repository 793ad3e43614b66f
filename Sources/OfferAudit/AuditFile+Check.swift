import Glibc
import OfferCore
import OfferFiles
import SystemPackage

extension AuditFile {
    /// Checks whether lines could be appended, without changing anything. Faults that only an attempt reveals, such as
    /// a full disk or a pipe without a reader, are not detected.
    /// - Parameter rules: the rules that the service would apply to the last lines.
    package static func check(path: String, rules: AuditRules = AuditRules()) throws(AuditFault) {
        let path = FilePath(path)
        do {
            try checkFile(path, rules: rules)
            if try type(of: path) ?? .regular == .regular { try AuditLock.check(of: path) }
        } catch let fault as AuditFault {
            throw fault
        } catch {
            throw AuditFault("\(path) cannot be written (\(error))", isSetup: isSetup(error))
        }
    }

    /// Throws a fault if the file ends with something other than an audit line.
    static func requireTrail(_ tail: AuditTail, _ path: FilePath) throws(AuditFault) {
        switch tail.content {
        case .nothing, .unfinished, .line: return
        case .somethingElse: throw AuditFault("\(path) does not end with an audit line", isSetup: true)
        case .tooLong:
            let limit = AuditTail.maximumSize / 1024 / 1024
            throw AuditFault("\(path) ends with more than \(limit) MiB that are not an audit line", isSetup: true)
        }
    }

    /// Checks only the file, without its lock.
    /// - Returns: what its last lines say; nil if it has none.
    @discardableResult
    static func checkFile(_ path: FilePath, rules: AuditRules) throws -> AuditOpening? {
        guard let type = try type(of: path) else {
            try AuditLock.requireAccess(to: path.folder, W_OK | X_OK)
            return nil
        }
        guard type != .directory else { throw Errno.isDirectory }
        // Opening and closing a pipe would end its reader's input.
        guard type == .regular else {
            try AuditLock.requireAccess(to: path, W_OK)
            return nil
        }
        let file = try FileDescriptor.open(path, .readWrite, options: [.append, .closeOnExec])
        return try file.closeAfter {
            // Read without taking the lock, because a service with a hanging disk may hold it. A line that is being
            // written looks unfinished, which is allowed.
            let tail = try AuditTail(file, size: Int64(file.stat().size))
            try requireTrail(tail, path)
            let opening = try AuditOpening(of: file, tail, rules: rules)
            try opening.requireOwnKey(path)
            return opening
        }
    }

    /// Returns the type of a file; nil if the file does not exist.
    private static func type(of path: FilePath) throws -> FileType? {
        do { return try path.stat().type } catch Errno.noSuchFileOrDirectory { return nil }
    }

    /// Returns the chain after the last line of a trail, without waiting for the lock. If the current file is missing
    /// or empty, as after a rotation, the rotated files are read.
    package static func head(path: String) throws(AuditFault) -> AuditChain {
        let path = FilePath(path)
        do {
            guard try type(of: path) != nil else {
                guard let chain = RotatedTrails(of: path).end else { throw Errno.noSuchFileOrDirectory }
                return chain
            }
            let file = try FileDescriptor.open(path, .readOnly, options: [.nonBlocking, .closeOnExec])
            let tail = try file.closeAfter { try AuditTail(file, size: Int64(file.stat().size)) }
            try requireTrail(tail, path)
            guard let chain = tail.chain ?? RotatedTrails(of: path).end else {
                throw AuditFault("\(path) has no lines", isSetup: true)
            }
            return chain
        } catch let fault as AuditFault {
            throw fault
        } catch {
            throw AuditFault("\(path) cannot be read (\(error))", isSetup: true)
        }
    }

    /// Returns the number of the last line of a file that marks an unacknowledged break, without waiting for the lock.
    /// Returns nil if there is none near the end of the file, or if the file is not a trail.
    /// - Parameter rules: the rules that decide which lines can acknowledge a break.
    package static func openBreak(path: String, rules: AuditRules = AuditRules()) -> UInt64? {
        let path = FilePath(path)
        guard (try? type(of: path)) == .regular,
            let file = try? FileDescriptor.open(path, .readOnly, options: [.closeOnExec])
        else { return nil }
        return try? file.closeAfter {
            let tail = try AuditTail(file, size: Int64(file.stat().size))
            return try AuditOpening(of: file, tail, rules: rules).openBreak
        }
    }

    /// Returns the number of the first line of a file that has the form of an audit line. Returns nil if there is none
    /// near the beginning of the file, or if the file cannot be read.
    package static func firstLineNumber(path: String) -> UInt64? {
        guard let file = try? FileDescriptor.open(FilePath(path), .readOnly, options: [.nonBlocking, .closeOnExec])
        else { return nil }
        return try? file.closeAfter { try AuditTail.firstNumber(in: file) }
    }
}
