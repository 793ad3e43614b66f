import OfferCore
import OfferCrypto

/// The claims of a token whose signature has been verified.
struct UserClaims {
    private let claims: JSONObject

    init(_ claims: JSONObject) {
        self.claims = claims
    }

    /// The tolerance for an issuer's clock that is ahead of this machine's clock, in milliseconds. `exp` needs no
    /// tolerance: a fast issuer clock only makes tokens last longer.
    private static let tolerance = 60_000.0

    /// Checks that the token is meant for this service and is valid now.
    func require(audience: [UInt8], at now: Timestamp) throws(UserTokenFault) {
        guard names(audience) else { throw .audience }
        let now = Double(now.milliseconds)
        guard let expiry = time("exp") else { throw .noExpiry }
        guard now < expiry else { throw .expired }
        for name in ["nbf", "iat"] where claims[name] != nil {
            guard let time = time(name), time <= now + Self.tolerance else { throw .notYet }
        }
    }

    /// Derives the customer from the claims.
    /// - Parameter salt: the HMAC key for hashed usernames.
    func customer(
        by claim: UserIssuer.CustomerClaim, salt: Secret?
    ) throws(UserTokenFault) -> Customer {
        do {
            switch claim {
            case .applicationUsername(let name): return try Customer(applicationUsername: text(name))
            case .appAccountToken(let name): return try Customer(appAccountToken: text(name))
            case .hashedUsername(let name):
                guard let salt else { throw UserTokenFault.noCustomer }
                let code = try HMACSHA256.code(of: text(name), under: Array(salt.reveal.utf8))
                return try Customer(applicationUsername: Array(Hexadecimal.text(of: code).utf8))
            }
        } catch {
            throw .noCustomer
        }
    }

    /// Reads a string claim. An empty or blank one is refused, because it would make all users the same customer.
    private func text(_ name: String) throws(UserTokenFault) -> [UInt8] {
        guard case .string(let text) = claims[name], !text.isEmpty, !FieldText.isBlank(text) else { throw .noCustomer }
        return text
    }

    /// Returns true if `aud` equals `audience` or is an array of strings that contains it (RFC 7519 section 4.1.3).
    private func names(_ audience: [UInt8]) -> Bool {
        switch claims["aud"] {
        case .string(let text): return text == audience
        case .array(let elements):
            let texts = elements.compactMap { if case .string(let text) = $0 { text } else { nil } }
            return texts.count == elements.count && texts.contains(audience)
        default: return false
        }
    }

    /// Reads a NumericDate (RFC 7519 section 2), which may have a fraction.
    /// - Returns: the time in milliseconds; nil if the claim is not a number, or is so large that a `Double` cannot
    ///   represent every millisecond.
    private func time(_ name: String) -> Double? {
        guard case .number(let digits) = claims[name], let seconds = Double(String(decoding: digits, as: UTF8.self)),
            abs(seconds * 1000) <= 0x1p53
        else { return nil }
        return seconds * 1000
    }
}
