/// The reason that a notification of version 1 is not accepted. It never quotes the notification.
package enum LegacyNotificationFailure: Error, Hashable, Sendable {
    /// The app has no shared secret, so nothing authenticates the sender.
    case noSharedSecret
    case wrongPassword
    /// The JSON lacks a member or has an invalid one.
    case payload(PayloadError)
    /// The notification is not about one of our apps, or not from an accepted environment.
    case check(CheckFailure)
    /// The receipt in the notification is not accepted.
    case receipt(DataRefusal)
    /// libcrypto failed. The same notification may be accepted later.
    case unavailable
}

extension LegacyNotificationFailure {
    /// A stable name of the failed check, for programs.
    package var code: String {
        switch self {
        case .noSharedSecret: Self.noSharedSecretCode
        case .wrongPassword: Self.wrongPasswordCode
        case .payload(let error): error.code
        case .check(let failure): failure.code
        case .receipt(let refusal): refusal.code
        case .unavailable: VerificationFailure.Code.verificationUnavailable.rawValue
        }
    }

    /// A human-readable sentence.
    package var sentence: String {
        switch self {
        case .noSharedSecret: "The app has no shared secret, so its notifications of version 1 are not accepted."
        case .wrongPassword: "The password is missing or is not the app's shared secret."
        case .payload(let error): error.description
        case .check(let failure): failure.sentence
        case .receipt(let refusal): refusal.sentence
        case .unavailable: VerificationFailure(.verificationUnavailable).sentence
        }
    }

    /// True if the same notification may be accepted later.
    package var isRetryable: Bool {
        switch self {
        case .noSharedSecret, .wrongPassword, .payload, .check: false
        case .receipt(let refusal): refusal.isRetryable
        case .unavailable: true
        }
    }

    private static let noSharedSecretCode = "shared_secret_missing"
    private static let wrongPasswordCode = "password_wrong"

    /// The values of ``code`` that only this type defines.
    package static let codes = [noSharedSecretCode, wrongPasswordCode]
}
