package import OfferCore

/// The storage of audit trail lines. It is called from one thread at a time and may block for as long as the disk takes.
package protocol AuditStore: AnyObject {
    /// A problem that does not prevent writing; nil if there is none.
    var warning: Diagnostic? { get }

    /// Appends the lines that `write` produces: all of them, or none.
    /// - Parameter write: appends lines to the text and advances the chain from the state that the store passes. If it
    ///   throws, its error is reported as an ``AuditFault``.
    func append(_ write: (inout [UInt8], inout AuditChain) throws -> Void) throws(AuditFault)
}
