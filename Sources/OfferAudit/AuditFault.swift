package import OfferCore

/// The reason nothing could be appended to the audit trail.
package struct AuditFault: Error, Hashable, CustomStringConvertible {
    package let description: String
    /// True if an operator has to fix something, such as a missing folder. Any other fault, such as a full disk, may be
    /// temporary.
    package let isSetup: Bool

    package init(_ description: String, isSetup: Bool = false) {
        self.description = description
        self.isSetup = isSetup
    }

    package init(_ error: any Error) {
        self = error as? AuditFault ?? AuditFault("\(error)")
    }

    /// The fault as a diagnostic for an operator.
    package var problem: Diagnostic {
        Diagnostic(
            "nothing is signed because the audit trail cannot be written: \(description)",
            hint: isSetup
                ? "fix the cause; or rename the file, so that the next line starts a new one; "
                    + "or set SUBSCRIPTION_OFFERS_AUDIT_LOG to another path"
                : "free disk space, or check the disk or the reader of the pipe; writing is retried continuously")
    }
}
