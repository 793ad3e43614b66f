package import OfferCore

/// The storage of audit trail lines. It is called from one thread at a time and may take as long as a disk
/// does.
package protocol AuditStore: AnyObject {
    /// A problem that does not prevent writing; nil if there is none.
    var warning: Diagnostic? { get }

    /// Appends the lines that `write` makes, all of them or none.
    /// - Parameter write: appends lines to the text and advances the chain from the state that the store passes. Its
    ///   errors are rethrown.
    func append(_ write: (inout [UInt8], inout AuditChain) throws -> Void) throws(AuditFault)
}
