import FoundationEssentials
import Glibc
import OfferCore
import OfferFiles
import SystemPackage

/// A file of the audit trail that was renamed by rotation.
struct RotatedTrail {
    /// The hash that its first line continues from; nil if the first line does not contain one.
    let previous: [UInt8]?
    /// The chain after its last line.
    let chain: AuditChain

    /// - Returns: nil if the file is not an audit trail.
    init?(_ path: FilePath) {
        guard let file = try? FileDescriptor.open(path, .readOnly, options: [.nonBlocking, .closeOnExec]) else {
            return nil
        }
        let ends = try? file.closeAfter {
            (first: try AuditTail.firstLine(of: file), tail: try AuditTail(file, size: Int64(file.stat().size)))
        }
        guard let ends, let chain = ends.tail.chain else { return nil }
        previous = ends.first?.number == 1 ? AuditChain.beginning.hash : ends.first?.previous
        self.chain = chain
    }
}

/// The rotated files of a trail, such as `audit.jsonl.1` or `audit.jsonl-20260101`.
///
/// There can be thousands, and they are searched under the lock, so each file is opened only when it is needed.
struct RotatedTrails {
    /// The paths of the files, newest first.
    let paths: [FilePath]

    init(of path: FilePath) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path.folder.string)) ?? []
        let name = path.lastComponent?.string ?? ""
        paths = names.filter { !name.isEmpty && ($0.hasPrefix(name + ".") || $0.hasPrefix(name + "-")) }
            .compactMap { Self.withTime(path.folder.appending($0)) }
            .sorted { $1.time.lexicographicallyPrecedes($0.time) }
            .map(\.path)
    }

    /// - Returns: the path with the time of the file's last write (mtime), in seconds and nanoseconds; nil if there is
    ///   no such regular file.
    private static func withTime(_ path: FilePath) -> (path: FilePath, time: [Int])? {
        guard let stat = try? path.stat(), stat.type == .regular else { return nil }
        return (path, [stat.st_mtim.tv_sec, stat.st_mtim.tv_nsec])
    }

    /// Returns the newest file that contains a line at its offset.
    func holder(of line: KnownLine) -> FilePath? { paths.first { line.isHeld(by: $0) } }

    /// The chain at the end of the newest file, or of the last file that continues it; nil if there is no file.
    var end: AuditChain? { paths.lazy.compactMap(RotatedTrail.init).first.flatMap { states(from: $0.chain).last } }

    /// Returns the chain at the end of the last file that continues from a line.
    /// - Parameter holder: the file that holds the line.
    func end(from chain: AuditChain, in holder: FilePath?) -> AuditChain {
        // Usually, no other process has continued the chain, so the newest file ends with the line.
        if let holder, holder == paths.first, RotatedTrail(holder)?.chain.hash == chain.hash { return chain }
        return states(from: chain).last ?? chain
    }

    /// Returns the states of the chain at a line and at the ends of the files that continue from it, oldest first.
    /// Other processes may have continued the chain in files that have since been renamed.
    func states(from chain: AuditChain) -> [AuditChain] {
        let trails = paths.compactMap(RotatedTrail.init)
        var states = [chain]
        while let last = states.last,
            let next = trails.first(where: { $0.previous == last.hash && $0.chain.number > last.number })
        {
            states.append(next.chain)
        }
        return states
    }

    /// Renames the current file of a trail. No existing file is replaced: if the name is taken, as can happen after a
    /// trail was restarted, a number is appended.
    /// - Parameter number: the number of the file's last known line, which becomes part of the name.
    static func rename(_ path: FilePath, adding suffix: String, _ number: UInt64) throws(Errno) {
        let digits = String(number)
        let name = "\(path).\(suffix)\(String(repeating: "0", count: max(0, 12 - digits.count)))\(digits)"
        var (free, count) = (name, 1)
        while (try? FilePath(free).stat(followTargetSymlink: false)) != nil {
            count += 1
            free = "\(name)-\(count)"
        }
        guard unsafe Glibc.rename(path.string, free) == 0 else { throw Errno(rawValue: errno) }
    }
}
