package import OfferCore
import OfferEligibility

/// A transaction ID that consists only of digits, like those that Apple issues, so it can be part of a path.
package struct TransactionNumber: Hashable, Sendable {
    package let text: String

    /// A number that the App Store never issued, because its numbers have 15 digits or more.
    package static let neverIssued = TransactionNumber(text: "1")

    private init(text: String) { self.text = text }

    /// - Returns: nil unless the ID consists only of digits.
    package init?(_ id: TransactionID) {
        guard id.text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        text = id.text.description
    }
}
