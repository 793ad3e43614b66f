/// A kind of App Store data that an inspection distinguishes. The raw value is its name in the result.
package enum InspectedKind: String, CaseIterable, Hashable, Sendable {
    case notification
    case transaction
    case renewalInfo = "renewal-info"
    case appTransaction = "app-transaction"
    case retentionRequest = "retention-request"
    case receipt
    /// A receipt of one transaction. It can no longer be verified; see ``LegacyTransactionReceipt``.
    case legacyReceipt = "legacy-receipt"

    package init(_ kind: PayloadKind) {
        self =
            switch kind {
            case .notification: .notification
            case .transaction: .transaction
            case .renewalInfo: .renewalInfo
            case .appTransaction: .appTransaction
            case .retentionRequest: .retentionRequest
            }
    }

    /// The kind of JWS payload; nil for receipts.
    package var payloadKind: PayloadKind? { PayloadKind(rawValue: rawValue) }

    /// The name with an article, for sentences.
    package var title: String {
        switch self {
        case .receipt: "an app receipt"
        case .legacyReceipt: "a legacy transaction receipt"
        default: payloadKind?.title ?? rawValue
        }
    }
}
