import SystemPackage

extension StoreError {
    /// - Parameter error: the failure of a system call.
    init(_ error: any Error, path: FilePath) {
        switch error {
        case let error as StoreError: self = error
        case Errno.noSpace, Errno.diskQuotaExceeded: self.init(.diskFull, "\(path): \(error)")
        case Errno.readOnlyFileSystem: self.init(.readOnly, "\(path): \(error)")
        case Errno.fileExists: self.init(.exists, "\(path)")
        case is Errno: self.init(.unreachable, "\(path): \(error)")
        default: self.init(error)
        }
    }
}
