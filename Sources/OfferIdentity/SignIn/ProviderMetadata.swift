import OfferCore

/// The discovery document of an identity provider (OpenID Connect Discovery 1.0 section 3).
struct ProviderMetadata: Hashable, Sendable {
    /// How a client proves its secret at the token endpoint (OpenID Connect Core 1.0 section 9).
    enum ClientAuthentication: String, CaseIterable, Sendable {
        case basic = "client_secret_basic"
        case post = "client_secret_post"
    }

    let authorizationEndpoint: ProviderURL
    let tokenEndpoint: ProviderURL
    let keys: ProviderURL
    /// The method to use; nil if the provider supports neither.
    let clientAuthentication: ClientAuthentication?
    /// True if each authorization answer must have the parameter `iss` (RFC 9207).
    let answersHaveIssuer: Bool

    /// The address of the document: a final slash of the issuer is dropped (section 4).
    static func address(for issuer: ProviderURL) -> String {
        (issuer.text.last == "/" ? String(issuer.text.dropLast()) : issuer.text) + "/.well-known/openid-configuration"
    }

    /// - Throws: a problem for the operator.
    init(_ text: [UInt8], of issuer: ProviderURL) throws(Diagnostic) {
        let place = Self.address(for: issuer)
        // Some providers have more than 64 members.
        guard case .object(let members) = try? JSONReader.read(text, maximumCount: JSONReader.Limit.claimCount) else {
            throw Diagnostic(
                "\(place) is not a discovery document: it is not a valid JSON object", hint: "check the issuer")
        }
        guard case .string(let found) = members["issuer"], found.elementsEqual(issuer.text.utf8) else {
            throw Diagnostic(
                "\(place) belongs to another issuer, or to none",
                hint: "write the issuer exactly as in this document, including a final slash")
        }
        func endpoint(_ name: String) throws(Diagnostic) -> ProviderURL {
            guard let url = ProviderURL(members[name]) else {
                throw Diagnostic("\(name) in \(place) is missing or not an https URL", hint: "ask the provider")
            }
            return url
        }
        authorizationEndpoint = try endpoint("authorization_endpoint")
        tokenEndpoint = try endpoint("token_endpoint")
        keys = try endpoint("jwks_uri")
        guard Self.texts(members["code_challenge_methods_supported"])?.contains("S256") ?? true else {
            throw Diagnostic(
                "the identity provider \(issuer.text) does not support PKCE with S256",
                hint: "allow S256 at the provider")
        }
        let algorithms = Self.texts(members["id_token_signing_alg_values_supported"])
        guard algorithms?.contains(where: { TokenAlgorithm(name: $0.utf8) != nil }) ?? true else {
            throw Diagnostic(
                "the identity provider \(issuer.text) signs ID tokens by no supported algorithm",
                hint: "let it sign with \(TokenAlgorithm.usual.map(\.rawValue).sorted().joined(separator: " or "))")
        }
        // Basic is the default if the document lists no methods.
        let methods = Self.texts(members["token_endpoint_auth_methods_supported"])
        clientAuthentication =
            methods.map { methods in ClientAuthentication.allCases.first { methods.contains($0.rawValue) } } ?? .basic
        answersHaveIssuer = members["authorization_response_iss_parameter_supported"] == .bool(true)
    }

    /// Returns the strings of an array; nil if the value is anything else.
    private static func texts(_ value: JSONValue?) -> [String]? {
        guard case .array(let elements) = value else { return nil }
        return elements.compactMap {
            if case .string(let utf8) = $0 { String(decoding: utf8, as: UTF8.self) } else { nil }
        }
    }
}
