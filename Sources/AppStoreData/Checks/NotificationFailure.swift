/// The reason that a notification with a valid signature is not accepted.
package struct NotificationFailure<VerifierFailure: Error>: Error {
    package enum Reason {
        /// The signature of a JWS inside the notification is not accepted.
        case notVerified(VerifierFailure)
        case payload(PayloadError)
        case check(CheckFailure)
    }

    /// The path of the JWS inside the notification; nil for the notification itself.
    package let member: String?
    package let reason: Reason

    init(_ reason: Reason, member: String? = nil) {
        self.reason = reason
        self.member = member
    }
}

extension NotificationFailure: Equatable where VerifierFailure: Equatable {}
extension NotificationFailure: Hashable where VerifierFailure: Hashable {}
extension NotificationFailure.Reason: Equatable where VerifierFailure: Equatable {}
extension NotificationFailure.Reason: Hashable where VerifierFailure: Hashable {}
