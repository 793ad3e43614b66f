import OfferCore

/// A user's token as it was sent: a JWT (RFC 7519) in the compact form of a JWS (RFC 7515), read strictly, and nothing of
/// it believed yet.
///
/// Of the header only the name of the algorithm and of the key are taken. A key that comes with a token (`jwk`, `x5c`), or
/// a place to get one from (`jku`, `x5u`), would let anybody vouch for themselves.
struct UserToken {
    /// The largest token that is read, in bytes.
    static let maximumSize = 8 * 1024

    /// `alg` of the header.
    let algorithm: [UInt8]
    /// `kid` of the header.
    let keyID: [UInt8]?
    let claims: JSONObject
    /// What the signature covers: the first two parts as they were sent.
    let message: [UInt8]
    let signature: [UInt8]

    /// Whether a token can only be a JWT: it has exactly two dots.
    static func isMeant(_ token: [UInt8]) -> Bool { token.lazy.filter { $0 == dot }.count == 2 }

    /// - Parameter token: what stands behind `Bearer`.
    init(_ token: [UInt8]) throws(UserTokenFault) {
        guard token.count <= Self.maximumSize else { throw .tooLarge }
        let parts = token.split(separator: Self.dot, omittingEmptySubsequences: false)
        guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty }) else { throw .notThreeParts }
        guard let header = Base64URL.bytes(of: parts[0]), let payload = Base64URL.bytes(of: parts[1]),
            let signature = Base64URL.bytes(of: parts[2])
        else { throw .notBase64URL }
        guard case .object(let header) = try? JSONReader.read(header) else { throw .unreadableHeader }
        guard case .object(let claims) = try? JSONReader.read(payload, maximumCount: JSONReader.Limit.countOfClaims)
        else { throw .unreadableClaims }
        // What an extension means for a token is not known here, and b64 would change what is signed.
        guard header["crit"] == nil, header["b64"] == nil else { throw .extended }
        // Logout tokens and security event tokens (RFC 8417) have the same issuer and keys, and may have no typ.
        guard claims["events"] == nil else { throw .events }
        guard case .string(let algorithm) = header["alg"] else { throw .noAlgorithm }
        guard Self.isTypeOfToken(header["typ"]) else { throw .otherType }
        switch header["kid"] {
        case nil: keyID = nil
        case .string(let id): keyID = id
        default: throw .keyIDNotText
        }
        self.algorithm = algorithm
        self.claims = claims
        self.signature = signature
        message = Array(token[..<(token.count - parts[2].count - 1)])
    }

    private static let typesOfToken = ["jwt", "at+jwt", "application/jwt", "application/at+jwt"]
    private static let dot = UInt8(ascii: ".")

    /// RFC 7519 section 5.1 and RFC 9068 section 2.1, each also with the `application/` that RFC 7515 section 4.1.9 lets
    /// one leave out. Other kinds of token, such as a logout token, may have the same issuer and the same keys.
    private static func isTypeOfToken(_ type: JSONValue?) -> Bool {
        switch type {
        case nil: true
        case .string(let text): typesOfToken.contains { text.isEqual(toLowerCase: $0.utf8) }
        default: false
        }
    }
}

/// Why a user's token is refused; for the log alone, and with nothing of the token in it.
package enum UserTokenFault: String, Error {
    case tooLarge = "it is larger than 8 kB"
    case notThreeParts = "it has not three parts"
    case notBase64URL = "a part is not base64url without padding"
    case unreadableHeader = "its header is no JSON object that is read here"
    case unreadableClaims = "its claims are no JSON object that is read here"
    case extended = "its header has crit or b64, and no extension is known here"
    case noAlgorithm = "its header has no alg"
    case otherType = "its typ is that of another kind of token"
    case events = "it has events, as tokens that log out or report do"
    case keyIDNotText = "its kid is not a text"
    case unknownIssuer = "its iss is none that is configured"
    case algorithmNotAllowed = "its alg is none that is allowed for its issuer"
    case noKeys = "there are no keys of its issuer"
    case unknownKey = "no key of its issuer, or more than one, is the one that it names for its alg"
    case signature = "its signature does not hold"
    case audience = "its aud is another"
    case noExpiry = "it has no exp, or one that is no time of this world"
    case expired = "it has expired"
    case notYet = "its nbf or iat is in the future, or no time"
    case noCustomer = "the claim that says who the customer is is missing, empty, or cannot be one"
}
