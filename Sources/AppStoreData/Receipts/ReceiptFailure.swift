import OfferCrypto

/// The reason that a receipt is not accepted. It never quotes the receipt.
package enum ReceiptFailure: Error, Hashable, Sendable {
    /// The receipt is not trusted to come from Apple.
    case notVerified(VerificationFailure)
    /// The signed content is unreadable.
    case payload(ReceiptPayloadError)
    /// The receipt is genuine but not acceptable.
    case refused(ReceiptRefusal)

    /// A stable name of the failed check, for programs.
    package var code: String {
        switch self {
        case .notVerified(let failure): failure.code.rawValue
        case .payload: "receipt_unreadable"
        case .refused(let refusal): refusal.rawValue
        }
    }

    /// A human-readable sentence.
    package var sentence: String {
        switch self {
        case .notVerified(let failure): failure.sentence
        case .payload(let error): error.sentence
        case .refused(let refusal): refusal.sentence
        }
    }
}

/// The reason that a genuine receipt is not accepted. The raw values are stable codes.
package enum ReceiptRefusal: String, CaseIterable, Hashable, Sendable {
    case unknownType = "receipt_type_unknown"
    case xcodeNeedsDevelopment = "receipt_xcode_needs_development"
    case notFromAppStore = "receipt_not_from_app_store"
    case expired = "receipt_expired"
    case deviceHashMissing = "receipt_device_hash_missing"
    case anotherDevice = "receipt_another_device"

    package var sentence: String {
        switch self {
        case .unknownType: "The receipt's type is unknown, so its environment is too."
        case .xcodeNeedsDevelopment: "The receipt is from Xcode, which is accepted only in development."
        case .notFromAppStore: "A certificate that may sign only Xcode receipts signed an App Store receipt."
        case .expired: "The receipt has expired."
        case .deviceHashMissing: "The receipt lacks the hash that identifies its device."
        case .anotherDevice: "The receipt was made for another device."
        }
    }
}

extension VerificationFailure {
    /// The argument label avoids ambiguity, because both types have cases with the same names.
    init(message error: SignedMessageError) {
        self.init(Self.code(of: error))
    }

    private static func code(of error: SignedMessageError) -> Code {
        switch error {
        case .tooLarge: .receiptTooLarge
        case .tooComplex: .receiptTooComplex
        case .malformed, .unreadable, .notSignedData: .receiptNotSignedData
        case .trailingBytes: .receiptTrailingBytes
        case .wrongContentType: .receiptContentType
        case .detached: .receiptDetached
        case .signerCount: .receiptSignerCount
        case .tooManyCertificates: .receiptCertificateCount
        case .certificate: .certificateUnreadable
        case .unnamedSigner, .signerCertificateCount: .receiptSignerCertificate
        case .unsuitableKey: .receiptSignerKey
        case .unsupportedAlgorithm: .receiptAlgorithm
        case .wrongContentTypeAttribute: .receiptSignedAttributes
        case .wrongSignature: .signatureInvalid
        case .failed: .verificationUnavailable
        }
    }
}
