import OfferCore
import OfferEligibility

// The response bodies for the App Store. Each body has exactly one member.
//
// Source: Apple, "Responding to real-time retention messaging requests" (Retention Messaging API documentation).

extension RetentionDecision.Choice {
    /// The body for a message or another product. For an offer with its signature, see
    /// ``SignedOffer/retentionBody(messageIdentifier:)``.
    var body: [UInt8] {
        var writer = JSONWriter()
        switch content {
        case .message, .promotionalOffer:
            writer.object("message") { $0.member("messageIdentifier", utf8: messageIdentifier.utf8) }
        case .alternateProduct(let productID, let plan):
            writer.object("alternateProduct") { writer in
                writer.member("messageIdentifier", utf8: messageIdentifier.utf8)
                writer.member("productId", utf8: productID.text.utf8)
                if let plan { writer.member("billingPlanType", plan.rawValue) }
            }
        }
        return writer.finish()
    }
}

extension SignedOffer {
    /// Returns the body for a promotional offer, with its only signature.
    func retentionBody(messageIdentifier: UUIDText) -> [UInt8] {
        var writer = JSONWriter()
        writer.object("promotionalOffer") { writer in
            writer.member("messageIdentifier", utf8: messageIdentifier.utf8)
            if case .made(let jws) = jws {
                writer.member("promotionalOfferSignatureV2", utf8: jws.text)
            } else if let signature {
                writer.object("promotionalOfferSignatureV1") { writeRetentionV1(signature, to: &$0) }
            }
        }
        return writer.finish()
    }

    /// Writes a V1 signature. Unlike in Apple's sample, the members for the key ID and the signature are `keyId` and
    /// `encodedSignature`.
    private func writeRetentionV1(_ signature: OfferSignature, to writer: inout JSONWriter) {
        writer.member("encodedSignature", utf8: signature.base64)
        writer.member("productId", utf8: payload.productIdentifier.text.utf8)
        writer.member("nonce", utf8: payload.nonce.uuid.utf8)
        writer.member("timestamp", payload.timestamp.milliseconds)
        writer.member("keyId", utf8: payload.keyID.text.utf8)
        writer.member("offerIdentifier", utf8: payload.offerID.text.utf8)
        if case .appAccountToken(let token) = payload.customer { writer.member("appAccountToken", utf8: token.utf8) }
    }
}
