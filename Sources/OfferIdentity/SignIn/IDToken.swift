import OfferCore

/// An ID token as received, parsed strictly but not verified.
struct IDToken {
    private let token: UserToken
    private let algorithm: TokenAlgorithm

    /// - Parameter token: a token from the provider's token endpoint, which may be larger than one in a request.
    init(_ token: [UInt8], from issuer: ProviderURL) throws(UserTokenFault) {
        let token = try UserToken(token, maximumSize: TokenExchange.maximumAnswer)
        guard case .string(let found) = token.claims["iss"], found.elementsEqual(issuer.text.utf8) else {
            throw .unknownIssuer
        }
        // The key decides in the end: none of a set is for `none` or HS256.
        guard let algorithm = TokenAlgorithm(name: token.algorithm) else { throw .algorithmNotAllowed }
        (self.token, self.algorithm) = (token, algorithm)
    }

    func key(in set: UserKeySet) -> UserKeySet.Key? { set.key(token.keyID, for: algorithm) }

    /// Verifies the token (OpenID Connect Core 1.0 section 3.1.3.7).
    func person(
        verifiedBy key: UserKeySet.Key, _ settings: SignInSettings, nonce: Secret, at now: Timestamp
    ) throws(SignInError) -> SignedInPerson {
        guard key.verifies(token.signature, token.message) else { throw .invalidToken(.signature) }
        let claims = token.claims
        do { try UserClaims(claims).require(audience: Array(settings.clientID.utf8), at: now) } catch {
            throw .invalidToken(error)
        }
        do throws(IDTokenFault) {
            guard claims["iat"] != nil else { throw .noIssueTime }
            guard Self.isParty(settings.clientID, claims) else { throw .otherParty }
            guard case .string(let found) = claims["nonce"], found.elementsEqual(nonce.reveal.utf8) else {
                throw .nonce
            }
            return try SignedInPerson(claims, roleClaim: settings.roleClaim)
        } catch {
            throw .unsuitableToken(error)
        }
    }

    /// Returns true if the token was made for this client. `azp` is required if there are several audiences.
    private static func isParty(_ clientID: String, _ claims: JSONObject) -> Bool {
        switch (claims["azp"], claims["aud"]) {
        case (.string(let party), _): party.elementsEqual(clientID.utf8)
        case (nil, .array(let audiences)): audiences.count == 1
        case (nil, _): true
        default: false
        }
    }
}
