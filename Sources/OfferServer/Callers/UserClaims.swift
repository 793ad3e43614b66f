import OfferCore

/// What the claims of a token with a good signature come to.
struct UserClaims {
    /// HMAC-SHA-256 of a message under a key.
    typealias HMAC = (_ message: [UInt8], _ key: [UInt8]) throws -> [UInt8]

    private let claims: JSONObject

    init(_ claims: JSONObject) {
        self.claims = claims
    }

    /// How much an issuer's clock may be ahead of ours, in milliseconds. A token that has expired is not spared, for none of
    /// its time is lost by that.
    private static let tolerance = 60_000.0

    /// That the token is meant for us, at this moment.
    func require(for issuer: UserIssuer, at now: Timestamp) throws(UserTokenFault) {
        guard names(issuer.audience) else { throw .audience }
        let now = Double(now.milliseconds)
        guard let expiry = time("exp") else { throw .noExpiry }
        guard now < expiry else { throw .expired }
        for name in ["nbf", "iat"] where claims[name] != nil {
            guard let time = time(name), time <= now + Self.tolerance else { throw .notYet }
        }
    }

    /// - Parameter salt: of the usernames, where they are hashed.
    func customer(
        by claim: UserIssuer.CustomerClaim, salt: Secret?, hmac: HMAC
    ) throws(UserTokenFault) -> Customer {
        do {
            switch claim {
            case .applicationUsername(let name): return try Customer(applicationUsername: text(name))
            case .appAccountToken(let name): return try Customer(appAccountToken: text(name))
            case .hashedUsername(let name):
                guard let salt else { throw UserTokenFault.noCustomer }
                let code = try hmac(text(name), Array(salt.reveal.utf8))
                return try Customer(applicationUsername: Array(Hexadecimal.text(of: code).utf8))
            }
        } catch {
            throw .noCustomer
        }
    }

    /// A text that is not empty: an empty one would be the same customer for everybody.
    private func text(_ name: String) throws(UserTokenFault) -> [UInt8] {
        guard case .string(let text) = claims[name], !text.isEmpty else { throw .noCustomer }
        return text
    }

    /// Whether `aud` is `audience`, or a list of texts with it (RFC 7519 section 4.1.3).
    private func names(_ audience: [UInt8]) -> Bool {
        switch claims["aud"] {
        case .string(let text): return text == audience
        case .array(let elements):
            let texts = elements.compactMap { if case .string(let text) = $0 { text } else { nil } }
            return texts.count == elements.count && texts.contains(audience)
        default: return false
        }
    }

    /// A NumericDate (RFC 7519 section 2), which may have a fraction, in milliseconds; nil if a `Double` cannot tell them
    /// apart any more.
    private func time(_ name: String) -> Double? {
        guard case .number(let digits) = claims[name], let seconds = Double(String(decoding: digits, as: UTF8.self)),
            abs(seconds * 1000) <= 0x1p53
        else { return nil }
        return seconds * 1000
    }
}
