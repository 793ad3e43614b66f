/// The fields that a promotional-offer signature covers.
///
/// Source: Apple, "Generating a signature for promotional offers" (StoreKit documentation).
package struct OfferPayload: Hashable, Sendable {
    package let appBundleID: BundleID
    package let keyID: KeyID
    package let productIdentifier: ProductID
    package let offerID: OfferID
    package let customer: Customer
    package let nonce: Nonce
    package let timestamp: Timestamp

    package init(
        appBundleID: BundleID, keyID: KeyID, productIdentifier: ProductID, offerID: OfferID, customer: Customer,
        nonce: Nonce, timestamp: Timestamp
    ) {
        self.appBundleID = appBundleID
        self.keyID = keyID
        self.productIdentifier = productIdentifier
        self.offerID = offerID
        self.customer = customer
        self.nonce = nonce
        self.timestamp = timestamp
    }

    /// U+2063 INVISIBLE SEPARATOR in UTF-8. No field can contain it: see ``FieldText``.
    package static let separator: [UInt8] = [0xE2, 0x81, 0xA3]

    /// The signed bytes: the seven fields in the order of their declaration, in UTF-8, joined by U+2063, with no
    /// byte-order mark or line ending. An empty username is signed as an empty field between its two separators.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(256)
        bytes += appBundleID.text.utf8
        bytes += Self.separator
        bytes += keyID.text.utf8
        bytes += Self.separator
        bytes += productIdentifier.text.utf8
        bytes += Self.separator
        bytes += offerID.text.utf8
        bytes += Self.separator
        bytes += customer.utf8
        bytes += Self.separator
        bytes += nonce.uuid.utf8
        bytes += Self.separator
        bytes += String(timestamp.milliseconds).utf8
        return bytes
    }
}
