import AppStoreData
import OfferCore
import OfferEligibility

/// The body that the App Store posts when a customer is about to cancel: `{"signedPayload": JWS}`.
package enum RetentionBody {
    /// - Returns: the compact JWS, not yet verified.
    package static func signedPayload(in body: [UInt8]) throws(Problem) -> [UInt8] {
        let value: JSONValue
        do { value = try JSONReader.read(body) } catch { throw .unreadableJSON(error) }
        guard case .object(let members) = value else { throw .notAnObject }
        // Apple adds members without notice, so unknown ones are ignored.
        switch members["signedPayload"] {
        case .string(let text)?: return text
        case let other?: throw .wrongType(field: "signedPayload", expected: "a string", found: other.kind)
        case nil: throw .missingField("signedPayload")
        }
    }
}
