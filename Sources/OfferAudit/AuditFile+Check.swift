import Glibc
import OfferCore
import OfferFiles
import SystemPackage

extension AuditFile {
    /// Checks whether lines could be appended, without changing anything. Faults that only an attempt reveals, such as
    /// a full disk or a pipe without a reader, are not detected.
    package static func check(path: String) throws(AuditFault) {
        let path = FilePath(path)
        do {
            try checkFile(path)
        } catch let fault as AuditFault {
            throw fault
        } catch {
            throw AuditFault("\(path) cannot be written (\(error))", isSetup: isSetup(error))
        }
    }

    /// Makes the fault for a file that does not end with an audit line.
    static func notATrail(_ path: FilePath) -> AuditFault {
        AuditFault("\(path) does not end with an audit line", isSetup: true)
    }

    private static func checkFile(_ path: FilePath) throws {
        guard let type = try type(of: path) else {
            return try requireAccess(to: path.folder, W_OK | X_OK)
        }
        guard type != .directory else { throw Errno.isDirectory }
        // Opening and closing a pipe would end its reader's input.
        guard type == .regular else { return try requireAccess(to: path, W_OK) }
        let file = try FileDescriptor.open(path, .readWrite, options: [.append, .closeOnExec])
        try file.closeAfter {
            // Read without taking the lock, because a service with a hanging disk may hold it. A line that is being
            // written looks unfinished, which is allowed.
            let tail = try AuditTail(file, size: Int64(file.stat().size))
            if case .somethingElse = tail.content { throw notATrail(path) }
        }
    }

    /// The type of the file; nil if it does not exist.
    private static func type(of path: FilePath) throws -> FileType? {
        do { return try path.stat().type } catch Errno.noSuchFileOrDirectory { return nil }
    }

    private static func requireAccess(to path: FilePath, _ mode: Int32) throws {
        guard unsafe access(path.string, mode) == 0 else { throw Errno(rawValue: errno) }
    }
}
