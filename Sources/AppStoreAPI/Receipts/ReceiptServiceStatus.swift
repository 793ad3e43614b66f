/// A status code of the legacy service `verifyReceipt`.
///
/// Source: Apple, "status" (App Store Receipts documentation).
package struct ReceiptServiceStatus: RawRepresentable, Hashable, Sendable {
    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }

    package static let valid = Self(rawValue: 0)
    package static let malformed = Self(rawValue: 21_002)
    package static let wrongSharedSecret = Self(rawValue: 21_004)
    package static let unavailable = Self(rawValue: 21_005)
    /// The subscription has expired. The answer still describes the purchases.
    package static let expired = Self(rawValue: 21_006)
    package static let ofSandbox = Self(rawValue: 21_007)
    package static let ofProduction = Self(rawValue: 21_008)
    package static let internalError = Self(rawValue: 21_009)

    /// True if the answer describes the purchases.
    var hasData: Bool { self == .valid || self == .expired }

    /// Returns true if the same request may succeed soon. Apple sends 21002 for malformed receipts, but also for
    /// temporary problems.
    /// - Parameter isMarked: the value of `is_retryable`; nil if it is absent.
    func isRetryable(_ isMarked: Bool?) -> Bool {
        switch rawValue {
        case 21_002, 21_005, 21_009: true
        case 21_100...21_199: isMarked ?? true
        default: false
        }
    }

    /// A name for metrics. It contains the number if Apple documents the status.
    package var name: String {
        switch rawValue {
        case 21_000...21_010: "status_\(rawValue)"
        case 21_100...21_199: "status_21100_21199"
        default: "status_unknown"
        }
    }

    package var sentence: String {
        switch rawValue {
        case 0: "The receipt is valid."
        case 21_000: "The request was not a POST. Report this as a bug."
        case 21_002: "The receipt is malformed, or the service has a temporary problem."
        case 21_003: "Apple did not sign the receipt."
        case 21_004: "The shared secret is not the app's. Correct sharedSecret in the configuration file."
        case 21_005: "The service is temporarily unavailable."
        case 21_006: "The receipt is valid, but its subscription has expired."
        case 21_007: "The receipt is from the sandbox."
        case 21_008: "The receipt is from production."
        case 21_009: "The service has an internal error. Try again later."
        case 21_010: "The customer's Apple Account was not found. It may have been deleted."
        case 21_100...21_199: "The service has an internal error."
        default: "This version does not know the status. Look it up in Apple's documentation of receipts."
        }
    }
}
