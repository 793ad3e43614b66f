import Glibc
package import OfferCore
import SystemPackage

extension AuditFile {
    /// Looks for what would keep lines from being appended, and changes nothing. What only an attempt would show, such as a
    /// full disk or a pipe that nobody reads, it does not see.
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

    /// - Returns: what is wrong with a file that ends with something else than a line of a trail.
    static func notATrail(_ path: FilePath) -> AuditFault {
        AuditFault("\(path) does not end as an audit trail does", isSetup: true)
    }

    private static func checkFile(_ path: FilePath) throws {
        guard let type = try type(of: path) else {
            return try requireAccess(to: path.folder, W_OK | X_OK)
        }
        guard type != .directory else { throw Errno.isDirectory }
        // To open a pipe and to close it would be an end to whoever reads it.
        guard type == .regular else { return try requireAccess(to: path, W_OK) }
        let file = try FileDescriptor.open(path, .readWrite, options: [.append, .closeOnExec])
        try file.closeAfter {
            // Not under the lock, which a service may hold whose disk hangs. A line that is being written looks cut off, as one
            // may be.
            let tail = try AuditTail(file, size: Int64(file.stat().size))
            if case .somethingElse = tail.content { throw notATrail(path) }
        }
    }

    /// nil where there is nothing.
    private static func type(of path: FilePath) throws -> FileType? {
        do { return try path.stat().type } catch Errno.noSuchFileOrDirectory { return nil }
    }

    private static func requireAccess(to path: FilePath, _ mode: Int32) throws {
        guard unsafe access(path.string, mode) == 0 else { throw Errno(rawValue: errno) }
    }
}
