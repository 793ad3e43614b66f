import Glibc
import OfferCore
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
        guard let ends, let chain = ends.tail.chain, chain.number < Self.maximumNumber else { return nil }
        previous = ends.first?.number == 1 ? AuditChain.beginning.hash : ends.first?.previous
        self.chain = chain
        changed = [stat.st_mtim.tv_sec, stat.st_mtim.tv_nsec]
    }

    /// The limit on line numbers that a chain continues from. No real trail reaches it, and it leaves room below the
    /// largest number that ``AuditLine`` can read.
    private static let maximumNumber: UInt64 = 100_000_000_000_000
}
