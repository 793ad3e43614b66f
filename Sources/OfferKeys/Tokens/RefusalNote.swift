import Glibc
import OfferFiles
import SystemPackage

/// A note for later processes: a token refused the PIN in a PIN file. Most tokens report a wrong PIN by flags and need no note.
/// The note describes the PIN file, but not the PIN.
struct RefusalNote {
    private let pinFile: String
    /// The places to look for a note. It is written to the first.
    private let places: [FilePath]

    init(_ file: PINFile) {
        pinFile = file.path
        places = [file.refusalFile, file.path + ".refused"].compactMap { $0 }.map { FilePath($0) }
    }

    /// The path of the note; nil if there is none.
    var path: String? { places.first { (try? $0.stat(followTargetSymlink: false)) != nil }?.string }

    /// True if the PIN file has not changed since the note was written. One that has changed may still contain the same PIN.
    var isOfUnchangedFile: Bool {
        guard let path, let stamp = stamp, let text = try? RegularFile(path: path, maximumSize: 256) else {
            return false
        }
        return text.bytes == Array(stamp.utf8)
    }

    /// - Returns: the path of the file that could not be written; nil if it was written.
    func write() -> String? {
        do {
            let file = try FileDescriptor.open(
                places[0], .writeOnly, options: [.create, .truncate, .noFollow, .closeOnExec, .nonBlocking],
                permissions: [.ownerReadWrite])
            try file.closeAfter { _ = try file.writeAll((stamp ?? "").utf8) }
            return nil
        } catch { return places[0].string }
    }

    func remove() { for place in places { try? PrivateFile.remove(place) } }

    /// The identity, size and time of the PIN file.
    private var stamp: String? {
        guard let stat = try? FilePath(pinFile).stat() else { return nil }
        return "\(stat.inode.rawValue) \(stat.size) \(stat.st_mtim.tv_sec).\(stat.st_mtim.tv_nsec)\n"
    }
}
