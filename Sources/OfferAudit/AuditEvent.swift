/// The events that lines of the audit trail record. The raw values are the values of the member `event`.
package enum AuditEvent: String, CaseIterable, Sendable {
    /// A new file begins.
    case begin
    /// A process starts.
    case start
    /// Writing works again after a failure.
    case resume
    /// The refusals without their own line.
    case refusalsOmitted = "refusals omitted"
    /// The file no longer held the last line that a process had written.
    case broken = "break"
    /// An operator has acknowledged all breaks so far.
    case breakAcknowledged = "break acknowledged"
}
