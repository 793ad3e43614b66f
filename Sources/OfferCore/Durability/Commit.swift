/// Entries in a durable log that must be written before something else happens, such as sending a response.
///
/// Commits to the same log can be merged, so one write can serve many responses.
package struct Commit: Sendable {
    package let log: any CommitLog
    /// The positions of the entries among all entries of the log, starting at 1.
    package private(set) var positions: ClosedRange<UInt64>

    package init(log: any CommitLog, positions: ClosedRange<UInt64>) {
        self.log = log
        self.positions = positions
    }

    /// Extends this commit to cover `other` and every entry in between.
    /// - Parameter other: a commit to the same log.
    package mutating func merge(_ other: Commit) {
        let first = min(positions.lowerBound, other.positions.lowerBound)
        positions = first...max(positions.upperBound, other.positions.upperBound)
    }

    /// Has the log write the entries and waits for the result.
    /// - Returns: true if all entries are durable; false if any was lost.
    package func isDurable() async -> Bool {
        await withCheckedContinuation { continuation in
            log.write(self) { continuation.resume(returning: $0) }
        }
    }
}

/// A log that writes its entries in groups.
package protocol CommitLog: AnyObject, Sendable {
    /// Writes the entries of `commit`.
    /// - Parameter completion: called once, on any thread and possibly under a lock, so it must not block. Its argument
    ///   is true if all entries are durable.
    func write(_ commit: Commit, completion: @escaping @Sendable (_ isDurable: Bool) -> Void)
}
