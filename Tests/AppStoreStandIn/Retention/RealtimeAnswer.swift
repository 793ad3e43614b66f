import OfferCore
import OfferEligibility

/// The App Store's check of an answer to a request for a retention message.
package enum RealtimeAnswer {
    /// Whether the body has exactly one member that is shown, with what that needs.
    package static func isValid(_ body: [UInt8]) -> Bool {
        guard case .object(let members)? = try? JSONReader.read(body), members.members.count == 1,
            let (name, value) = members.members.first.map({ ($0.name, $0.value) }), case .object(let shown) = value,
            isUUID(shown["messageIdentifier"])
        else { return false }
        switch String(decoding: name, as: UTF8.self) {
        case "message": return true
        case "alternateProduct": return isText(shown["productId"])
        case "promotionalOffer":
            switch (shown["promotionalOfferSignatureV1"], shown["promotionalOfferSignatureV2"]) {
            case (nil, .string?): return true
            case (.object(let signature)?, nil):
                let names = ["encodedSignature", "productId", "nonce", "keyId", "offerIdentifier"]
                guard case .number? = signature["timestamp"] else { return false }
                return names.allSatisfy { isText(signature[$0]) }
            default: return false
            }
        default: return false
        }
    }

    private static func isText(_ value: JSONValue?) -> Bool { if case .string? = value { true } else { false } }

    private static func isUUID(_ value: JSONValue?) -> Bool {
        if case .string(let text)? = value { UUIDText(parsing: text) != nil } else { false }
    }
}
