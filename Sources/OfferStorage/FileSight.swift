import Glibc
import SystemPackage

/// What can be seen of a file without reading it. Two sights of a file differ if it has changed between them.
enum FileSight: Equatable {
    /// Its place on the disk, size, mode and times, links followed.
    case file(Stamp)
    /// It is there and leads to nothing: a dangling link.
    case nothing
    /// It is not in the folder.
    case gone

    struct Stamp: Hashable {
        fileprivate let device: DeviceID
        fileprivate let inode: Inode
        fileprivate let size: Int64
        fileprivate let mode: FileMode
        fileprivate let modified: [Int]
        fileprivate let changed: [Int]
    }

    /// - Parameter path: of a file that has been listed.
    init(path: String) {
        guard let stat = try? FilePath(path).stat() else {
            self = .nothing
            return
        }
        self = .file(
            Stamp(
                device: stat.deviceID, inode: stat.inode, size: stat.size, mode: stat.mode,
                modified: [stat.st_mtim.tv_sec, stat.st_mtim.tv_nsec],
                changed: [stat.st_ctim.tv_sec, stat.st_ctim.tv_nsec]))
    }
}
