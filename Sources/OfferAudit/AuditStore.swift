package import OfferCore

/// The storage of audit trail lines. It is called from one thread at a time and may block for as long as the disk
/// takes.
package protocol AuditStore: AnyObject {
    /// Problems that do not prevent writing.
    var problems: [Diagnostic] { get }

    /// The chain after the last line that this process has written or read.
    var head: AuditChain { get }

    /// Returns the findings since the last call.
    func takeFindings() -> [AuditFinding]

    /// Appends either all lines that `write` produces or none.
    /// - Parameter write: appends lines to the text and advances the chain from the state that the store passes. If it
    ///   throws, its error is reported as an ``AuditFault``.
    func append(_ write: (inout [UInt8], inout AuditChain) throws -> Void) throws(AuditFault)

    /// Checks that the lines written so far are still in the file, and reads the lines of other processes. If lines are
    /// missing, appends a line that marks the break.
    func checkLines() throws(AuditFault)
}
