/// The Promotional Offer Identifier, as set up in App Store Connect on the product. Fourth field of the payload.
///
/// At most 255 bytes, above anything that App Store Connect lets a team register.
package struct OfferID: Hashable, Sendable {
    package let text: FieldText

    package init(utf8: [UInt8], field: String = "offerID") throws(FieldError) {
        text = try FieldText(utf8: utf8, field: field, sizes: 1...255)
    }
}
