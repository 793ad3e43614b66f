import OfferCore
import OfferCrypto

/// The request that the browser takes to the provider (OpenID Connect Core 1.0 section 3.1.2.1).
enum AuthorizationRequest {
    /// - Returns: the address to redirect the browser to.
    static func location(
        for pending: PendingSignIn, _ settings: SignInSettings, _ metadata: ProviderMetadata
    ) throws(OpenSSLError) -> String {
        let challenge = Base64URL.text(of: try SHA256.hash(Array(pending.verifier.reveal.utf8)))
        let query = FormEncoding.text(of: [
            ("response_type", "code"), ("client_id", settings.clientID), ("redirect_uri", settings.redirectURL.text),
            ("scope", settings.scopes.joined(separator: " ")), ("state", pending.state.reveal),
            ("nonce", pending.nonce.reveal), ("code_challenge", String(decoding: challenge, as: UTF8.self)),
            ("code_challenge_method", "S256"),
        ])
        let endpoint = metadata.authorizationEndpoint.text
        // RFC 6749 section 3.1: the endpoint's own query stays.
        return endpoint + (endpoint.contains("?") ? "&" : "?") + query
    }
}
