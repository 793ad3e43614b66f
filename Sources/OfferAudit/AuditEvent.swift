/// An event that a line of the audit trail records. The raw values are the values of the member `event`.
package enum AuditEvent: String, CaseIterable, Sendable {
    /// A new file begins.
    case begin
    /// A process starts.
    case start
    /// Writing works again after a failure.
    case resume
    /// Some refusals were not recorded individually.
    case refusalsOmitted = "refusals omitted"
    /// The file no longer contained the last line that a process knew.
    case broken = "break"
    /// An operator acknowledged all breaks so far.
    case breakAcknowledged = "break acknowledged"
}
