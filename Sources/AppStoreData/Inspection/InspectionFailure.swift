/// The reason that an inspection fails before the data itself is checked. The raw values are stable codes.
package enum InspectionFailure: String, CaseIterable, Error, Hashable, Sendable {
    case notRecognised = "not_recognised"
    case legacyReceiptNotVerified = "legacy_receipt_not_verified"

    package var sentence: String {
        switch self {
        case .notRecognised:
            "The input is not App Store data: a compact JWS, a JSON object with \"signedPayload\", or a receipt in "
                + "DER, BER or base64."
        case .legacyReceiptNotVerified:
            "The signature of a legacy transaction receipt cannot be verified, because its issuer's certificate is not "
                + "enclosed. Request the transaction from the App Store Server API."
        }
    }
}

extension DataRefusal {
    package init(_ failure: InspectionFailure) {
        self.init(code: failure.rawValue, sentence: failure.sentence, isRetryable: false, isGenuine: false)
    }

    init(_ error: LegacyTransactionReceiptError) {
        self.init(code: error.rawValue, sentence: error.sentence, isRetryable: false, isGenuine: false)
    }

    /// Creates the refusal for a JWS instead of a receipt, or for the reverse. Their forms differ, so no verification
    /// is needed.
    init(expected: InspectedKind, found: InspectedForm) {
        self.init(
            code: "payload_of_another_kind",
            sentence: "The input is \(found.title), but \(expected.title) is expected.", isRetryable: false,
            isGenuine: false)
    }
}

extension LegacyTransactionReceiptError {
    package var sentence: String {
        switch self {
        case .tooLarge: "The legacy receipt is larger than \(LegacyTransactionReceipt.maximumSize) bytes."
        case .noPurchaseInfo: "The legacy receipt has no \"purchase-info\"."
        case .purchaseInfoNotBase64: "The \"purchase-info\" of the legacy receipt is not base64."
        case .wrongTransactionID: "The \"transaction-id\" of the legacy receipt is not a transaction ID."
        }
    }
}
