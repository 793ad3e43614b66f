import NIOConcurrencyHelpers
import OfferCore
package import OfferCrypto

/// The check of tokens, as Apple makes it: an ES256 JWT by a known key, for this app if it names one, in force now.
package final class TokenCheck: Sendable {
    private let keys: NIOLockedValueBox<[String: SigningKey]>
    private let issuerID: String?
    private let bundleID: String?
    /// The longest lifetime in seconds.
    private let longest: Int64

    /// - Parameters:
    ///   - issuerID: nil for an individual key, whose token has the subject `user`.
    ///   - bundleID: nil for App Store Connect, whose tokens name no app.
    init(keys: [String: SigningKey], issuerID: String?, bundleID: String?, longest: Int64 = 3600) {
        self.keys = NIOLockedValueBox(keys)
        self.issuerID = issuerID
        self.bundleID = bundleID
        self.longest = longest
    }

    /// Replaces the keys, as App Store Connect does when one is revoked.
    package func replace(keys: [String: SigningKey]) { self.keys.withLockedValue { $0 = keys } }

    /// - Parameter now: in milliseconds.
    func accepts(_ authorization: String?, at now: Int64) -> Bool {
        guard let authorization, authorization.hasPrefix("Bearer ") else { return false }
        let text = Array(authorization.dropFirst(7).utf8)
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.object(parts[0]), let claims = Self.object(parts[1]),
            header["alg"] == .string(Array("ES256".utf8)), header["typ"] == .string(Array("JWT".utf8)),
            case .string(let kid)? = header["kid"], let signature = Base64URL.bytes(of: parts[2]),
            let raw = RawSignature(bytes: signature),
            let key = keys.withLockedValue({ $0[String(decoding: kid, as: UTF8.self)] }),
            (try? key.verify(raw.der, of: Array(text[..<(parts[2].startIndex - 1)]))) == true
        else { return false }
        guard claims["iss"] == issuerID.map({ .string(Array($0.utf8)) }),
            claims["bid"] == bundleID.map({ .string(Array($0.utf8)) }),
            claims["sub"] == (issuerID == nil ? .string(Array("user".utf8)) : nil),
            claims["aud"] == .string(Array("appstoreconnect-v1".utf8)), let issued = Self.number(claims["iat"]),
            let expires = Self.number(claims["exp"])
        else { return false }
        let seconds = now / 1000
        return issued <= seconds + 5 && expires > seconds && expires - issued <= longest
    }

    private static func object(_ part: ArraySlice<UInt8>) -> JSONObject? {
        guard let bytes = Base64URL.bytes(of: part), case .object(let object)? = try? JSONReader.read(bytes) else {
            return nil
        }
        return object
    }

    private static func number(_ value: JSONValue?) -> Int64? {
        guard case .number(let digits)? = value else { return nil }
        return Int64(String(decoding: digits, as: UTF8.self))
    }
}
