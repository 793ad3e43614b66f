package import OfferCore

/// The storage of audit trail lines. It is called from one thread at a time and may block for as long as the disk takes.
package protocol AuditStore: AnyObject {
    /// Problems that do not prevent writing.
    var problems: [Diagnostic] { get }

    /// The chain after the last line that this process has written or read.
    var head: AuditChain { get }

    /// Returns what has been noticed since the last call.
    func takeFindings() -> [AuditFinding]

    /// Appends the lines that `write` produces: all of them, or none.
    /// - Parameter write: appends lines to the text and advances the chain from the state that the store passes. If it
    ///   throws, its error is reported as an ``AuditFault``.
    func append(_ write: (inout [UInt8], inout AuditChain) throws -> Void) throws(AuditFault)

    /// Checks that the lines written so far are still there, and reads the lines of other processes. If the lines are
    /// gone, appends a line about it.
    func checkLines() throws(AuditFault)
}
