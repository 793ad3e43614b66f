import OfferCore
import OutgoingHTTP

/// The exchange of an authorization code for an ID token (OpenID Connect Core 1.0 section 3.1.3).
enum TokenExchange {
    /// The maximum size of the answer, in bytes. An ID token with 200 groups has about 11 kB.
    static let maximumAnswer = 64 * 1024

    static func request(
        for code: Secret, _ pending: PendingSignIn, _ settings: SignInSettings, _ metadata: ProviderMetadata
    ) throws(SignInError) -> OutgoingRequest {
        var headers = [
            (name: "Content-Type", value: "application/x-www-form-urlencoded"), ("Accept", "application/json"),
        ]
        var fields: [FormEncoding.Field] = [
            ("grant_type", "authorization_code"), ("code", code.reveal), ("redirect_uri", settings.redirectURL.text),
            ("code_verifier", pending.verifier.reveal),
        ]
        switch (settings.clientSecret, metadata.clientAuthentication) {
        case (nil, _): fields.append(("client_id", settings.clientID))
        case (let secret?, .basic):
            // RFC 6749 section 2.3.1: both are encoded first.
            let pair = FormEncoding.encoded(settings.clientID) + ":" + FormEncoding.encoded(secret.reveal)
            headers.append(
                ("Authorization", "Basic " + String(decoding: Base64.text(of: Array(pair.utf8)), as: UTF8.self)))
        case (let secret?, .post):
            fields += [("client_id", settings.clientID), ("client_secret", secret.reveal)]
        case (_?, nil):
            throw .provider(
                Diagnostic(
                    "the identity provider \(settings.issuer.text) accepts no client secret by "
                        + "client_secret_basic or client_secret_post",
                    hint: "allow one of them at the provider"))
        }
        return OutgoingRequest(
            "POST", metadata.tokenEndpoint.text, headers: headers, body: Array(FormEncoding.text(of: fields).utf8),
            maximumResponse: maximumAnswer)
    }

    /// Reads the ID token from the answer of the token endpoint.
    static func token(in answer: IncomingResponse, from issuer: ProviderURL) throws(SignInError) -> [UInt8] {
        let json = try? JSONReader.read(answer.body, maximumCount: JSONReader.Limit.claimCount)
        let members = if case .object(let members) = json { members } else { JSONObject() }
        guard answer.status == 200 else {
            guard let error = text(members["error"]) else {
                throw .provider(
                    Diagnostic(
                        "the token endpoint of \(issuer.text) answered with HTTP status \(answer.status)",
                        hint: "check the provider's log"))
            }
            throw .codeRefused(ProviderRefusal(code: error, description: text(members["error_description"])))
        }
        guard case .string(let token) = members["id_token"] else {
            throw .provider(
                Diagnostic(
                    "the token endpoint of \(issuer.text) sent no ID token",
                    hint: "check that the client may use the scope openid"))
        }
        return token
    }

    private static func text(_ value: JSONValue?) -> String? {
        if case .string(let utf8) = value { String(decoding: utf8, as: UTF8.self) } else { nil }
    }
}
