/// The Promotional Offer Identifier, as set up for the product in App Store Connect. It is the fourth field of the
/// payload.
///
/// It has at most 255 bytes; App Store Connect allows fewer.
package struct OfferID: Hashable, Sendable {
    package let text: FieldText

    package init(utf8: [UInt8], field: String = "offerID") throws(FieldError) {
        text = try FieldText(utf8: utf8, field: field, sizes: 1...255)
    }
}
