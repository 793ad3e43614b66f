package import OfferCore
import OfferEligibility

/// A transaction ID that can be part of a path: digits only, as Apple issues them.
package struct TransactionNumber: Hashable, Sendable {
    package let text: String

    /// A number that does not exist, because the App Store issues numbers of 15 digits or more.
    package static let neverIssued = TransactionNumber(text: "1")

    private init(text: String) { self.text = text }

    /// - Returns: nil unless the ID has only digits.
    package init?(_ id: TransactionID) {
        guard id.text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        text = id.text.description
    }
}
