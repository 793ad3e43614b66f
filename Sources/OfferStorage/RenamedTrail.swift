import Glibc
import OfferCore
import SystemPackage

/// A file of an audit trail that has another name by now.
struct RenamedTrail {
    /// The hash that its first line goes on from; nil where that says nothing of it.
    let previous: [UInt8]?
    /// What its last line hands on.
    let chain: AuditChain
    /// When it was written last: seconds and nanoseconds.
    let changed: [Int]

    /// - Returns: nil if there is no trail.
    init?(_ path: FilePath) {
        guard let stat = try? path.stat(), stat.type == .regular,
            let file = try? FileDescriptor.open(path, .readOnly, options: [.nonBlocking, .closeOnExec])
        else { return nil }
        let ends = try? file.closeAfter {
            (first: try AuditTail.firstLine(of: file), tail: try AuditTail(file, size: Int64(stat.size)))
        }
        guard let ends, let chain = ends.tail.chain, chain.number < Self.maximumNumber else { return nil }
        previous = ends.first?.number == 1 ? AuditChain.beginning.hash : ends.first?.previous
        self.chain = chain
        changed = [stat.st_mtim.tv_sec, stat.st_mtim.tv_nsec]
    }

    /// No trail gets that far, and what goes on from it could not be written.
    private static let maximumNumber: UInt64 = 100_000_000_000_000
}
