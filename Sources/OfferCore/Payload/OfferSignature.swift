/// An ECDSA P-256 signature over SHA-256 of a payload, in the form that StoreKit expects.
package struct OfferSignature: Hashable, Sendable {
    /// The signature in ASN.1 DER, `SEQUENCE { INTEGER r, INTEGER s }`: at most 72 bytes.
    package let der: [UInt8]

    package init(der: [UInt8]) {
        self.der = der
    }

    /// `der` in standard base64 (RFC 4648 section 4) with padding, on one line. This is the form sent to callers.
    package var base64: [UInt8] { Base64.text(of: der) }
}
