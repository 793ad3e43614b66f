package import OfferAudit
package import OfferCore

/// The conditions for every signature.
package struct Safeguards: Sendable {
    /// nil if there is no audit trail.
    package var trail: AuditTrail?
    /// nil to skip the self-test of the cryptography.
    package var selfTest: SelfTest?
    /// The earliest time that a correct clock can show; see ``ClockCheck/earliest``.
    package var earliest = Timestamp.min
}
