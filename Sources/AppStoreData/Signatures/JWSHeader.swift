import OfferCore
import OfferCrypto

/// The header of a JWS that Apple signed.
///
/// Only `alg`, `crit` and `x5c` are read. Other members, such as the `kid` of old data, have no effect. Keys in a
/// header (`jwk`, `jku`, `x5u`) are never used.
enum JWSHeader {
    /// - Parameter header: the decoded header.
    /// - Returns: the certificates in DER, leaf first: three, or one in data signed by Xcode. The last of three is
    ///   empty, because only the configured roots are trusted.
    static func certificates(in header: [UInt8]) throws(VerificationFailure) -> [[UInt8]] {
        guard case .object(let members) = try? JSONReader.read(header) else {
            throw VerificationFailure(.headerNotJSON)
        }
        guard members["alg"] == .string(Array("ES256".utf8)) else { throw VerificationFailure(.algorithmNotES256) }
        guard members["crit"] == nil else { throw VerificationFailure(.headerCritical) }
        let texts = try certificateTexts(members["x5c"])
        switch texts.count {
        case 1: return [try der(of: texts[0], .leaf)]
        case 3: return [try der(of: texts[0], .leaf), try der(of: texts[1], .intermediate), []]
        default: throw VerificationFailure(.certificateCount)
        }
    }

    private static func certificateTexts(_ value: JSONValue?) throws(VerificationFailure) -> [[UInt8]] {
        guard case .array(let elements) = value else { throw VerificationFailure(.certificatesMissing) }
        return try elements.map { element throws(VerificationFailure) in
            guard case .string(let text) = element else { throw VerificationFailure(.certificatesMissing) }
            return text
        }
    }

    private static func der(of text: [UInt8], _ role: CertificateRole) throws(VerificationFailure) -> [UInt8] {
        guard let der = Base64.bytes(of: text) else { throw VerificationFailure(.certificateNotBase64, role) }
        return der
    }
}
