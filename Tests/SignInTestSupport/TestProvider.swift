import Crypto
import Foundation
import NIOConcurrencyHelpers
import NIOHTTP1
package import TestSupport

/// An identity provider over TLS. It is honest until a test changes its behaviour.
///
/// It signs everyone in at once: `/authorize` redirects back without a page. Codes work once and need their PKCE verifier.
package final class TestProvider: Sendable {
    package enum Signature: Sendable {
        case key(ProviderKey)
        /// `alg: none`, with this text as the signature.
        case none(String)
        /// HS256 under the text of a public key.
        case hmac(String)
    }

    /// What happens to the requests for a path.
    package enum Fault: Sendable {
        case redirect(to: String)
        case body(String)
        case status(Int, String)
        case silence
    }

    package struct Behaviour: Sendable {
        /// Members of the discovery document to replace, as JSON; nil removes one.
        package var discovery: [String: String?] = [:]
        /// Claims of ID tokens to replace, as JSON; nil removes one.
        package var claims: [String: String?] = [:]
        package var signature: Signature
        /// The published key set, as JSON.
        package var keySet: String
        /// Parameters to add to the answers of `/authorize`.
        package var answer: [String: String] = [:]
        /// False if the token endpoint takes a code twice and without its verifier.
        package var checksCodes = true
        package var faults: [String: Fault] = [:]
    }

    private struct Code {
        let query: [String: String]
        var isUsed = false
    }

    private struct State {
        var behaviour: Behaviour
        var codes: [String: Code] = [:]
        var requests: [String: Int] = [:]
    }

    package let key: ProviderKey
    private let state: NIOLockedValueBox<State>
    private let server: HTTPSServer

    /// - Parameter now: seconds since 1970, for the claims.
    package init(
        _ certificates: TLSCertificates, now: @escaping @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970) }
    ) async throws {
        key = ProviderKey()
        let state = NIOLockedValueBox(
            State(behaviour: Behaviour(signature: .key(key), keySet: try ProviderKey.set(key))))
        self.state = state
        server = try await HTTPSServer(certificates) { request in
            let url = "https://" + (request.headers.first(name: "Host") ?? "")
            return state.withLockedValue { Self.answer(to: request, at: url, now(), &$0) }
        }
    }

    package var url: String { "https://127.0.0.1:\(server.port)" }

    package var behaviour: Behaviour {
        get { state.withLockedValue { $0.behaviour } }
        set { state.withLockedValue { $0.behaviour = newValue } }
    }

    /// Returns the number of requests for a path.
    package func requests(_ path: String) -> Int { state.withLockedValue { $0.requests[path] ?? 0 } }

    /// Answers an authorization request in this process.
    /// - Returns: the query with which the browser comes back.
    package func answer(to location: String) -> String {
        let back = state.withLockedValue { Self.authorize(Self.fields(location.drop { $0 != "?" }.dropFirst()), &$0) }
        return String(back.drop { $0 != "?" }.dropFirst())
    }

    // MARK: Requests

    private static func answer(
        to request: HTTPSServer.Request, at url: String, _ now: Int64, _ state: inout State
    ) -> HTTPSServer.Response? {
        let parts = request.target.split(separator: "?", maxSplits: 1)
        let path = String(parts.first ?? "")
        state.requests[path, default: 0] += 1
        switch state.behaviour.faults[path] {
        case nil: break
        case .redirect(let place): return .init(status: 307, headers: ["Location": place])
        case .body(let text): return .init(body: text)
        case .status(let status, let text): return .init(status: status, body: text)
        case .silence: return nil
        }
        switch path {
        case "/.well-known/openid-configuration": return .init(body: discovery(url, state.behaviour))
        case "/jwks": return .init(body: state.behaviour.keySet)
        case "/authorize":
            let back = authorize(fields(parts.count > 1 ? parts[1] : ""), &state)
            return .init(status: 302, headers: ["Location": back])
        case "/token", "/elsewhere": return token(fields(request.body[...]), at: url, now, &state)
        default: return .init(status: 404)
        }
    }

    private static func discovery(_ url: String, _ behaviour: Behaviour) -> String {
        object(
            [
                "issuer": quoted(url), "authorization_endpoint": quoted(url + "/authorize"),
                "token_endpoint": quoted(url + "/token"), "jwks_uri": quoted(url + "/jwks"),
                "code_challenge_methods_supported": #"["S256"]"#,
                "id_token_signing_alg_values_supported": #"["ES256"]"#,
            ], behaviour.discovery)
    }

    private static func authorize(_ query: [String: String], _ state: inout State) -> String {
        let code = UUID().uuidString
        state.codes[code] = Code(query: query)
        let answer = ["code": code, "state": query["state"] ?? ""].merging(state.behaviour.answer) { $1 }
        return (query["redirect_uri"] ?? "") + "?"
            + answer.sorted { $0.key < $1.key }.map { "\($0.key)=\(encoded($0.value))" }.joined(separator: "&")
    }

    private static func token(
        _ form: [String: String], at url: String, _ now: Int64, _ state: inout State
    ) -> HTTPSServer.Response {
        let digest = Data(SHA256.hash(data: Data((form["code_verifier"] ?? "").utf8))).base64URL
        guard let code = form["code"], let issued = state.codes[code],
            !state.behaviour.checksCodes
                || !issued.isUsed && issued.query["code_challenge"] == digest
                    && issued.query["redirect_uri"] == form["redirect_uri"]
        else { return .init(status: 400, body: #"{"error":"invalid_grant","error_description":"bad code"}"#) }
        state.codes[code]?.isUsed = true
        let claims = object(
            [
                "iss": quoted(url), "aud": quoted(issued.query["client_id"] ?? ""), "sub": #""person-1""#,
                "name": #""Ada Lovelace""#, "groups": #"["support"]"#, "nonce": quoted(issued.query["nonce"] ?? ""),
                "iat": "\(now)", "exp": "\(now + 300)",
            ], state.behaviour.claims)
        guard let token = try? signed(claims, by: state.behaviour.signature) else { return .init(status: 500) }
        return .init(
            headers: ["Content-Type": "application/json"],
            body: #"{"access_token":"a","token_type":"Bearer","id_token":"\#(token)"}"#)
    }

    private static func signed(_ claims: String, by signature: Signature) throws -> String {
        func message(_ algorithm: String) -> String {
            Data(#"{"alg":"\#(algorithm)","kid":"key-1"}"#.utf8).base64URL + "." + Data(claims.utf8).base64URL
        }
        switch signature {
        case .key(let key): return try key.token(claims: claims)
        case .none(let text): return message("none") + "." + text
        case .hmac(let secret):
            let code = HMAC<SHA256>.authenticationCode(
                for: Data(message("HS256").utf8), using: SymmetricKey(data: Data(secret.utf8)))
            return message("HS256") + "." + Data(code).base64URL
        }
    }

    // MARK: Text

    private static func object(_ members: [String: String], _ changes: [String: String?]) -> String {
        var members = members
        for (name, value) in changes { members[name] = value }
        return "{" + members.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
    }

    private static func quoted(_ text: String) -> String { "\"\(text)\"" }

    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }

    private static func fields(_ text: Substring) -> [String: String] {
        text.split(separator: "&").reduce(into: [:]) { fields, pair in
            let parts = pair.split(separator: "=", maxSplits: 1)
            if parts.count == 2 { fields[String(parts[0])] = parts[1].removingPercentEncoding }
        }
    }
}
