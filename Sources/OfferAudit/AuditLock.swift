import Glibc
import OfferFiles
import SystemPackage

/// The lock that processes take to write to an audit trail.
///
/// It is a lock on a separate file. Anyone who may read a file can take a read lock on it, and auditors may read the
/// trail, so a lock on the trail itself would let them stop the service.
final class AuditLock {
    private let path: FilePath
    private var descriptor: FileDescriptor?

    /// - Parameter trail: the path of the trail.
    init(of trail: FilePath) {
        path = Self.path(of: trail)
    }

    deinit { try? descriptor?.close() }

    /// Returns the path of the lock file. It is hidden, so patterns such as `audit.jsonl*` do not match it.
    static func path(of trail: FilePath) -> FilePath {
        trail.folder.appending(".\(trail.lastComponent?.string ?? "audit").lock")
    }

    /// Waits for the lock and takes it.
    /// - Parameter isCreated: whether a missing lock file is created.
    func take(isCreated: Bool = true) throws {
        while true {
            let file = try descriptor ?? open(isCreated: isCreated)
            descriptor = file
            try Self.set(F_WRLCK, on: file)
            // If this file was moved or removed, another process would lock a different one.
            let named = try? path.stat(followTargetSymlink: false)
            if try named.map(FileIdentity.init) == FileIdentity(file.stat()) { return }
            try? file.close()
            descriptor = nil
        }
    }

    func release() {
        guard let descriptor else { return }
        try? Self.set(F_UNLCK, on: descriptor)
    }

    private func open(isCreated: Bool) throws -> FileDescriptor {
        var options: FileDescriptor.OpenOptions = [.closeOnExec, .noFollow, .nonBlocking]
        if isCreated { options.insert(.create) }
        do {
            let file = try FileDescriptor.open(path, .readWrite, options: options, permissions: .ownerReadWrite)
            do {
                try Self.requirePrivate(file)
                return file
            } catch {
                try? file.close()
                throw error
            }
        } catch let error as Errno {
            throw Self.fault(path, error)
        }
    }

    /// Removes other accounts' access to the file, which may have been created by hand. Refuses a file of another
    /// owner, who could grant access again.
    private static func requirePrivate(_ file: FileDescriptor) throws {
        let stat = try file.stat()
        guard stat.type == .regular else { throw Errno.invalidArgument }
        guard stat.isOwn else { throw Errno.notPermitted }
        guard stat.permissions.rawValue & 0o077 != 0 else { return }
        guard fchmod(file.rawValue, 0o600) == 0 else { throw Errno(rawValue: errno) }
    }

    /// Checks whether the lock of a trail could be taken, without changing anything.
    static func check(of trail: FilePath) throws {
        let path = path(of: trail)
        do throws(Errno) {
            let stat: Stat
            do { stat = try path.stat(followTargetSymlink: false) } catch Errno.noSuchFileOrDirectory {
                return try requireAccess(to: path.folder, W_OK | X_OK)
            }
            guard stat.type != .symbolicLink else { throw .tooManySymbolicLinkLevels }
            guard stat.type == .regular else { throw .invalidArgument }
            guard stat.isOwn else { throw .notPermitted }
            try requireAccess(to: path, R_OK | W_OK)
        } catch {
            throw fault(path, error)
        }
    }

    static func requireAccess(to path: FilePath, _ mode: Int32) throws(Errno) {
        guard unsafe access(path.string, mode) == 0 else { throw Errno(rawValue: errno) }
    }

    private static func fault(_ path: FilePath, _ error: Errno) -> AuditFault {
        if error == .notPermitted { return notOwn(path) }
        return AuditFault(
            "its lock file \(path) cannot be opened (\(error))",
            isSetup: AuditFile.isSetup(error) || error == .invalidArgument)
    }

    /// Refuses a file of another account. A file that this account creates would lock the other account out.
    static func requireOwn(_ path: FilePath) throws {
        if let stat = try? path.stat(), !stat.isOwn { throw notOwn(path) }
    }

    private static func notOwn(_ path: FilePath) -> AuditFault {
        AuditFault("\(path) belongs to another account than the one that runs this program", isSetup: true)
    }

    /// Linux's `F_OFD_SETLKW`, which Swift does not import.
    private static let waitForLock: Int32 = 38

    private static func set(_ type: Int32, on file: FileDescriptor) throws {
        var lock = Glibc.flock()
        lock.l_type = Int16(type)
        while unsafe fcntl(file.rawValue, waitForLock, &lock) != 0 {
            guard errno == EINTR else { throw Errno(rawValue: errno) }
        }
    }
}

extension Stat {
    /// True if the file belongs to the account that runs this process.
    fileprivate var isOwn: Bool { userID.rawValue == geteuid() }
}
