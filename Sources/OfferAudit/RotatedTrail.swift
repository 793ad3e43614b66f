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
    /// The time of the last write (mtime): seconds and nanoseconds.
    let changed: [Int]

    /// - Returns: nil if the file is not an audit trail.
    init?(_ path: FilePath) {
        guard let stat = try? path.stat(), stat.type == .regular,
            let file = try? FileDescriptor.open(path, .readOnly, options: [.nonBlocking, .closeOnExec])
        else { return nil }
        let ends = try? file.closeAfter {
            (first: try AuditTail.firstLine(of: file), tail: try AuditTail(file, size: Int64(stat.size)))
        }
        guard let ends, let chain = ends.tail.chain, chain.number < AuditChain.maximumNumber else { return nil }
        previous = ends.first?.number == 1 ? AuditChain.beginning.hash : ends.first?.previous
        self.chain = chain
        changed = [stat.st_mtim.tv_sec, stat.st_mtim.tv_nsec]
    }
}

/// The rotated files of a trail, such as `audit.jsonl.1` or `audit.jsonl-20260101`, newest first.
struct RotatedTrails {
    private let trails: [RotatedTrail]

    init(of path: FilePath) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path.folder.string)) ?? []
        let name = path.lastComponent?.string ?? ""
        trails = names.filter { !name.isEmpty && ($0.hasPrefix(name + ".") || $0.hasPrefix(name + "-")) }
            .compactMap { RotatedTrail(path.folder.appending($0)) }
            .sorted { $1.changed.lexicographicallyPrecedes($0.changed) }
    }

    /// Whether a file ends with the last line of the chain, or continues from it.
    func contain(_ chain: AuditChain) -> Bool {
        trails.contains { $0.chain.hash == chain.hash || $0.previous == chain.hash }
    }

    /// The states of the chain at the ends of the files that continue from a line, oldest first, beginning with that
    /// line. If no line is known, they begin with the last line of the newest file. Other processes may have continued
    /// the chain in files that have since been renamed.
    func states(from chain: AuditChain) -> [AuditChain] {
        var states = [chain.number > 0 ? chain : trails.first?.chain ?? .beginning]
        while let last = states.last,
            let next = trails.first(where: { $0.previous == last.hash && $0.chain.number > last.number })
        {
            states.append(next.chain)
        }
        return states
    }
}
