import OfferCore

/// A user's token as received, parsed strictly but not verified: a JWT (RFC 7519) as a compact JWS (RFC 7515).
///
/// Only the algorithm and key ID are taken from the header. Trusting a key in the token (`jwk`, `x5c`) or the location
/// of one (`jku`, `x5u`) would let anyone issue valid tokens.
struct UserToken {
    /// The maximum size of a token in a request, in bytes.
    static let maximumSize = Caller.maximumTokenLength

    /// The `alg` of the header.
    let algorithm: [UInt8]
    /// The `kid` of the header.
    let keyID: [UInt8]?
    let claims: JSONObject
    /// The bytes that the signature covers: the first two parts as received.
    let message: [UInt8]
    let signature: [UInt8]

    /// Returns true if a token has the form of a JWT: exactly two dots.
    static func looksLikeJWT(_ token: [UInt8]) -> Bool { token.lazy.filter { $0 == dot }.count == 2 }

    /// - Parameter token: the credentials after `Bearer`, or the ID token of a sign-in.
    init(_ token: [UInt8], maximumSize: Int = maximumSize) throws(UserTokenFault) {
        guard token.count <= maximumSize else { throw .tooLarge }
        let parts = token.split(separator: Self.dot, omittingEmptySubsequences: false)
        guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty }) else { throw .notThreeParts }
        guard let header = Base64URL.bytes(of: parts[0]), let payload = Base64URL.bytes(of: parts[1]),
            let signature = Base64URL.bytes(of: parts[2])
        else { throw .notBase64URL }
        guard case .object(let header) = try? JSONReader.read(header) else { throw .unreadableHeader }
        guard case .object(let claims) = try? JSONReader.read(payload, maximumCount: JSONReader.Limit.claimCount)
        else { throw .unreadableClaims }
        // No extensions are supported, and b64 would change the signed bytes.
        guard header["crit"] == nil, header["b64"] == nil else { throw .unsupportedExtension }
        // Logout tokens and security event tokens (RFC 8417) have the same issuer and keys as user tokens, and may lack
        // typ.
        guard claims["events"] == nil else { throw .events }
        guard case .string(let algorithm) = header["alg"] else { throw .noAlgorithm }
        guard Self.isAcceptedType(header["typ"]) else { throw .otherType }
        switch header["kid"] {
        case nil: keyID = nil
        case .string(let id): keyID = id
        default: throw .keyIDNotString
        }
        self.algorithm = algorithm
        self.claims = claims
        self.signature = signature
        message = Array(token[..<(token.count - parts[2].count - 1)])
    }

    private static let acceptedTypes = ["jwt", "at+jwt", "application/jwt", "application/at+jwt"]
    private static let dot = UInt8(ascii: ".")

    /// Returns true if `typ` is absent or names a JWT or an access token (RFC 7519 section 5.1, RFC 9068 section 2.1).
    /// The `application/` prefix is optional (RFC 7515 section 4.1.9). Other kinds of token, such as logout tokens, may
    /// have the same issuer and keys.
    private static func isAcceptedType(_ type: JSONValue?) -> Bool {
        switch type {
        case nil: true
        case .string(let text): acceptedTypes.contains { text.isEqual(toLowerCase: $0.utf8) }
        default: false
        }
    }
}

/// The reason that a user's token is refused. It is logged, never sent to the caller, and contains no part of the
/// token.
package enum UserTokenFault: String, Error {
    case tooLarge = "it is larger than 8 kB"
    case notThreeParts = "it does not have three parts"
    case notBase64URL = "a part is not base64url without padding"
    case unreadableHeader = "its header is not a valid JSON object"
    case unreadableClaims = "its claims are not a valid JSON object"
    case unsupportedExtension = "its header has crit or b64, but no extensions are supported"
    case noAlgorithm = "its header has no alg"
    case otherType = "its typ belongs to another kind of token"
    case events = "it has events, like a logout or security event token"
    case keyIDNotString = "its kid is not a string"
    case unknownIssuer = "its iss is not a configured issuer"
    case algorithmNotAllowed = "its alg is not allowed for its issuer"
    case noKeys = "there are no keys for its issuer"
    case unknownKey = "no key of its issuer, or more than one, matches its kid and alg"
    case signature = "its signature does not verify"
    case audience = "its aud is not the configured audience"
    case noExpiry = "it has no exp, or an invalid one"
    case expired = "it has expired"
    case notYet = "its nbf or iat is in the future or invalid"
    case noCustomer = "the customer claim is missing, blank or invalid"
}
