/// The product ID of the subscription being bought, exactly as registered (case-sensitive). It is the third field of
/// the payload.
///
/// Its name on the wire is `productIdentifier` in Apple's sample and `productID` in `/v1`. It has at most 255 bytes;
/// App Store Connect allows fewer.
package struct ProductID: Hashable, Sendable {
    package let text: FieldText

    package init(utf8: [UInt8], field: String = "productIdentifier") throws(FieldError) {
        text = try FieldText(utf8: utf8, field: field, sizes: 1...255)
    }
}
