import Glibc
import SystemPackage

/// The metadata that identifies the state of a file without reading it. Two stamps differ if the file changed in
/// between.
enum FileStamp: Equatable {
    /// The identity, size, mode and times of the file, or of the file that a link points to.
    case file(Attributes)
    /// The file is a dangling link.
    case danglingLink
    /// The file is not in the folder.
    case absent

    struct Attributes: Hashable {
        fileprivate let device: DeviceID
        fileprivate let inode: Inode
        fileprivate let size: Int64
        fileprivate let mode: FileMode
        fileprivate let modified: [Int]
        fileprivate let changed: [Int]
    }

    /// - Parameter path: the path of a file that the folder lists.
    init(path: String) {
        guard let stat = try? FilePath(path).stat() else {
            self = .danglingLink
            return
        }
        self = .file(
            Attributes(
                device: stat.deviceID, inode: stat.inode, size: stat.size, mode: stat.mode,
                modified: [stat.st_mtim.tv_sec, stat.st_mtim.tv_nsec],
                changed: [stat.st_ctim.tv_sec, stat.st_ctim.tv_nsec]))
    }
}
