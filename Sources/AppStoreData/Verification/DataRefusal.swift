import OfferCore

/// The reason that App Store data is not accepted, whichever check failed. It never quotes the data.
package struct DataRefusal: Error, Hashable, Sendable {
    /// A stable name of the failed check, for programs.
    package let code: String
    /// A human-readable sentence.
    package let sentence: String
    /// True if the same data may be accepted later.
    package let isRetryable: Bool
    /// True if the signer of the data is verified. If not, the data may be forged, damaged or not from Apple.
    package let isGenuine: Bool
    /// The path of the failed JWS inside a notification; nil for the notification itself and other data.
    package var member: String?
    /// The type of the refused notification; nil if it is unknown or does not matter.
    package var notificationType: String?
}

extension DataRefusal: CustomStringConvertible {
    package var description: String { "\(member.map { "\($0): " } ?? "")\(code): \(sentence)" }
}

extension DataRefusal {
    package init(_ failure: VerificationFailure) {
        self.init(
            code: failure.code.rawValue, sentence: failure.sentence, isRetryable: failure.code.isRetryable,
            isGenuine: false)
    }

    package init(_ error: PayloadError) {
        self.init(code: error.code, sentence: error.description, isRetryable: false, isGenuine: true)
    }

    package init(_ failure: CheckFailure) {
        self.init(code: failure.code, sentence: failure.sentence, isRetryable: false, isGenuine: true)
    }

    /// - Parameter type: the type of the notification, so that the operator knows what was not stored.
    init(_ failure: CheckFailure, of type: NotificationType) {
        self.init(
            code: failure.code, sentence: "\(failure.sentence) The notification is of type \(type.rawValue.printable).",
            isRetryable: false, isGenuine: true)
        notificationType = type.rawValue.printable
    }

    package init(_ failure: ReceiptFailure) {
        if case .notVerified(let failure) = failure {
            self.init(failure)
        } else {
            self.init(code: failure.code, sentence: failure.sentence, isRetryable: false, isGenuine: true)
        }
    }

    package init(_ failure: NotificationFailure<DataRefusal>) {
        switch failure.reason {
        case .notVerified(let refusal): self = refusal
        case .payload(let error): self.init(error)
        case .check(let failure): self.init(failure)
        }
        member = failure.member
    }
}

extension DataRefusal {
    package init(_ failure: LegacyNotificationFailure) {
        switch failure {
        case .payload(let error): self.init(error)
        case .check(let failure): self.init(failure)
        case .receipt(let refusal): self = refusal
        case .noSharedSecret, .wrongPassword, .unavailable:
            self.init(
                code: failure.code, sentence: failure.sentence, isRetryable: failure.isRetryable, isGenuine: false)
        }
    }

    /// True if the data is genuine but of a different kind than expected.
    package var isOfAnotherKind: Bool { isGenuine && code == "payload_of_another_kind" }

    /// True if the app's shared secret is wrong or not configured.
    package var isSharedSecret: Bool { LegacyNotificationFailure.codes.contains(code) }
}

extension PayloadError {
    /// A stable name, for programs.
    package var code: String {
        switch reason {
        case .notJSON, .notAnObject: "payload_not_json"
        case .unrecognised: "payload_unrecognised"
        case .ambiguous: "payload_ambiguous"
        case .wrongKind: "payload_of_another_kind"
        case .missing: "payload_member_missing"
        case .wrongType, .invalid, .conflicting: "payload_member_invalid"
        }
    }
}

extension DataRefusal {
    /// Every code, for metrics and documentation.
    package static let codes: [String] =
        VerificationFailure.Code.allCases.map(\.rawValue) + PayloadError.codes + CheckFailure.allCases.map(\.rawValue)
        + ["receipt_unreadable"] + ReceiptRefusal.allCases.map(\.rawValue) + LegacyNotificationFailure.codes
}

extension PayloadError {
    /// The values of ``code`` that do not occur in ``VerificationFailure``.
    fileprivate static let codes = [
        "payload_unrecognised", "payload_ambiguous", "payload_of_another_kind", "payload_member_missing",
        "payload_member_invalid",
    ]
}
