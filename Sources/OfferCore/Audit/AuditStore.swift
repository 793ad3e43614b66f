/// Where the lines of the audit trail are kept. It is called from one thread at a time, and may take as long as a disk does.
package protocol AuditStore: AnyObject {
    /// What is wrong with it, although lines are kept.
    var warning: SetupProblem? { get }

    /// Appends the lines that `write` makes, all of them or none.
    /// - Parameter write: appends to a text, and moves the chain on, from the state in which the store hands it over. Its
    ///   errors are thrown on.
    func append(_ write: (inout [UInt8], inout AuditChain) throws -> Void) throws(AuditFault)
}

/// Why nothing could be appended to the audit trail.
package struct AuditFault: Error, Hashable, CustomStringConvertible {
    package let description: String
    /// Whether somebody has to set something right: a folder that is not there, or a file that is something else. What else
    /// there is, such as a full disk, may pass.
    package let isSetup: Bool

    package init(_ description: String, isSetup: Bool = false) {
        self.description = description
        self.isSetup = isSetup
    }
}
