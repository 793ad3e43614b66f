/// The reason that the signed content of a receipt is unreadable. It names attributes but never quotes values.
package struct ReceiptPayloadError: Error, Hashable, Sendable {
    package enum Reason: Hashable, Sendable {
        /// The content is not a `SET OF` in DER.
        case notSet(DERError)
        /// An element of the set is not an attribute in DER.
        case notAttribute(DERError)
        /// An attribute that may occur only once occurs twice.
        case repeated
        case missing
        /// The value is not in DER, or its type differs from Apple's documentation.
        case wrongValue(DERError)
        /// The text is empty, too long, or not of the expected form.
        case wrongText
        /// The date is neither empty nor in the format of RFC 3339.
        case wrongDate
        /// The number is neither 0 nor 1.
        case wrongFlag
        /// The value does not have the 20 bytes of a SHA-1 digest.
        case wrongSize
        /// There are more than ``AppReceipt/maximumPurchases`` purchases.
        case tooManyPurchases
    }

    package let reason: Reason
    /// The number of the attribute, if it is known.
    package var attribute: UInt64?
    /// The index of the purchase that has the attribute; nil for the receipt itself.
    package var purchase: Int?

    package init(_ reason: Reason, attribute: UInt64? = nil, purchase: Int? = nil) {
        self.reason = reason
        self.attribute = attribute
        self.purchase = purchase
    }

    func inPurchase(_ index: Int) -> ReceiptPayloadError {
        ReceiptPayloadError(reason, attribute: attribute, purchase: index)
    }
}

extension ReceiptPayloadError {
    package var sentence: String {
        let place = purchase.map { "Purchase \($0) of the receipt" } ?? "The receipt"
        let attribute = attribute.map { "attribute \($0)" } ?? "an attribute"
        return switch reason {
        case .notSet: "\(place) is not a set of attributes."
        case .notAttribute: "\(place) contains something other than attributes."
        case .repeated: "\(place) has \(attribute) twice."
        case .missing: "\(place) lacks \(attribute)."
        case .wrongValue, .wrongSize: "\(place) has \(attribute) with a value of the wrong kind."
        case .wrongText: "\(place) has \(attribute) with text that is empty, too long or of the wrong form."
        case .wrongDate: "\(place) has \(attribute) with a date that is not in RFC 3339 format."
        case .wrongFlag: "\(place) has \(attribute) with a number other than 0 or 1."
        case .tooManyPurchases: "The receipt has more than \(AppReceipt.maximumPurchases) purchases."
        }
    }
}
