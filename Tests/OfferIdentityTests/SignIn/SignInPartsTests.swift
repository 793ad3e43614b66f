import OfferCore
import OfferCrypto
import OutgoingHTTP
import Testing

@testable import OfferIdentity

@Suite("Parts of a sign-in")
struct SignInPartsTests {
    private static let now = Timestamp(milliseconds: 1_800_000_000_000)
    private static let page = ReturnPage("/customers?q=1")

    private static func settings(secret: String? = nil) throws -> SignInSettings {
        try SignInSettings(
            issuer: "https://id.example.com/realm", clientID: "console: one", clientSecret: secret.map(Secret.init),
            redirectURL: "https://offers.example.com/sign-in/return")
    }

    /// - Parameter changes: members to replace, as JSON; nil removes one.
    private static func metadata(_ changes: [String: String?] = [:]) throws(Diagnostic) -> ProviderMetadata {
        var members = [
            "issuer": #""https://id.example.com/realm""#, "authorization_endpoint": #""https://id.example.com/a""#,
            "token_endpoint": #""https://id.example.com/t""#, "jwks_uri": #""https://id.example.com/k""#,
        ]
        for (name, value) in changes { members[name] = value }
        let text = "{" + members.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
        guard let issuer = ProviderURL("https://id.example.com/realm") else { throw Diagnostic("", hint: "") }
        return try ProviderMetadata(Array(text.utf8), of: issuer)
    }

    private static func pending(at now: Timestamp = now) throws -> PendingSignIn {
        try PendingSignIn.make(page: page ?? .start, at: now)
    }

    // MARK: URLs

    @Test(
        "an issuer is an https URL in printable ASCII",
        arguments: [
            ("https://id.example.com", true), ("https://id.example.com/", true), ("https://[::1]:8443/realm", true),
            ("https://127.0.0.1:65535?a=b", true), ("http://id.example.com", false), ("HTTPS://id.example.com", false),
            ("https://", false), ("https:///path", false), ("https://id.example.com:0", false),
            ("https://id.example.com:65536", false), ("https://id.example.com:", false),
            ("https://id.example.com:+80", false),
            ("https://user@id.example.com", false), ("https://id.example.com/#part", false),
            ("https://id.example.com\\@evil.example", false), ("https://id.example.com/\r\nX: y", false),
            ("https://idé.example.com", false), ("https://[::1", false), ("https://[id]", false),
            ("https://id%2eexample.com", false), ("http://127.0.0.1", false), ("", false),
        ])
    func urls(text: String, isGood: Bool) { #expect((ProviderURL(text) != nil) == isGood) }

    @Test("only the redirect URL may use http, and only on this machine")
    func loopback() {
        #expect(ProviderURL("http://127.0.0.1:8080/sign-in/return", allowsLoopback: true) != nil)
        #expect(ProviderURL("http://[::1]/sign-in/return", allowsLoopback: true) != nil)
        #expect(ProviderURL("http://offers.example.com/sign-in/return", allowsLoopback: true) == nil)
        #expect(ProviderURL("http://127.0.0.1.example.com/", allowsLoopback: true) == nil)
    }

    @Test(
        "settings that cannot work are refused",
        arguments: [
            ("https://id.example.com?a=b", "console", "https://c.example", ["openid"]),
            ("http://127.0.0.1", "console", "https://c.example", ["openid"]),
            ("https://id.example.com", "", "https://c.example", ["openid"]),
            ("https://id.example.com", "console", "http://c.example", ["openid"]),
            ("https://id.example.com", "console", "https://c.example", ["openid profile"]),
            ("https://id.example.com", "console", "https://c.example", ["a\"b"]),
        ])
    func badSettings(issuer: String, clientID: String, redirectURL: String, scopes: [String]) {
        #expect(throws: Diagnostic.self) {
            try SignInSettings(issuer: issuer, clientID: clientID, redirectURL: redirectURL, scopes: scopes)
        }
    }

    // MARK: The discovery document

    @Test("the address of the discovery document has the issuer's path, without a final slash")
    func address() throws {
        for issuer in ["https://id.example.com/realm", "https://id.example.com/realm/"] {
            #expect(
                ProviderMetadata.address(for: try #require(ProviderURL(issuer)))
                    == "https://id.example.com/realm/.well-known/openid-configuration")
        }
    }

    @Test("a discovery document is read with the defaults of OpenID Connect")
    func discovery() throws {
        let plain = try Self.metadata()
        #expect(plain.tokenEndpoint.text == "https://id.example.com/t")
        #expect(plain.clientAuthentication == .basic && !plain.answersHaveIssuer)
        func methods(_ json: String) throws -> ProviderMetadata.ClientAuthentication? {
            try Self.metadata(["token_endpoint_auth_methods_supported": json]).clientAuthentication
        }
        #expect(try methods(#"["client_secret_post","client_secret_basic"]"#) == .basic)
        #expect(try methods(#"["client_secret_post","private_key_jwt"]"#) == .post)
        #expect(try methods(#"["private_key_jwt"]"#) == nil)
        #expect(try Self.metadata(["authorization_response_iss_parameter_supported": "true"]).answersHaveIssuer)
    }

    @Test(
        "a discovery document of another issuer, or without what a sign-in needs, is refused",
        arguments: [
            ("issuer", #""https://id.example.com/realm/""#, "belongs to another issuer"),
            ("issuer", nil, "belongs to another issuer"),
            ("issuer", #""https://id.example.com/realm","issuer":"x""#, "not a valid JSON object"),
            ("authorization_endpoint", #""http://id.example.com/a""#, "authorization_endpoint"),
            ("token_endpoint", #""http://127.0.0.1/t""#, "token_endpoint"), ("token_endpoint", nil, "token_endpoint"),
            ("jwks_uri", "1", "jwks_uri"), ("code_challenge_methods_supported", #"["plain"]"#, "PKCE"),
            ("id_token_signing_alg_values_supported", #"["none","HS256"]"#, "no supported algorithm"),
        ])
    func badDiscovery(member: String, value: String?, problem: String) throws {
        let error = try #require(throws: Diagnostic.self) { try Self.metadata([member: value]) }
        #expect(error.error.contains(problem), "\(error.error)")
    }

    // MARK: The request and its answer

    @Test("the authorization request has PKCE, state and nonce, and keeps the endpoint's own query")
    func location() throws {
        let pending = try Self.pending()
        let metadata = try Self.metadata(["authorization_endpoint": #""https://id.example.com/a?tenant=1""#])
        let location = try AuthorizationRequest.location(for: pending, Self.settings(), metadata)
        #expect(location.hasPrefix("https://id.example.com/a?tenant=1&response_type=code&client_id=console%3a%20one&"))
        let fields = try #require(FormEncoding.fields(of: String(location.drop { $0 != "?" }.dropFirst())))
        let values = Dictionary(fields.map { ($0.name, $0.value) }) { first, _ in first }
        #expect(values["redirect_uri"] == "https://offers.example.com/sign-in/return")
        #expect(values["scope"] == "openid profile email" && values["code_challenge_method"] == "S256")
        #expect(values["state"] == pending.state.reveal && values["nonce"] == pending.nonce.reveal)
        let challenge = Base64URL.text(of: try SHA256.hash(Array(pending.verifier.reveal.utf8)))
        #expect(values["code_challenge"] == String(decoding: challenge, as: UTF8.self))
        #expect(!location.contains(pending.verifier.reveal))
    }

    @Test("every sign-in has its own secrets of 32 random bytes")
    func secrets() throws {
        let pending = try (0..<50).map { _ in try Self.pending() }
        let secrets = pending.flatMap { [$0.state.reveal, $0.nonce.reveal, $0.verifier.reveal] }
        #expect(Set(secrets).count == 150 && secrets.allSatisfy { Base64URL.bytes(of: $0.utf8)?.count == 32 })
    }

    @Test(
        "an answer is decoded strictly, and unknown parameters are ignored",
        arguments: [
            ("code=a%2Bb&state=STATE&session_state=1&session_state=2&flag", "a+b"), ("code=a+b&state=STATE", "a b"),
            ("code=a&code=b&state=STATE", nil), ("code=a&state=STATE&state=STATE", nil), ("state=STATE", nil),
            ("code=&state=STATE", nil), ("code=a", nil), ("code=%zz&state=STATE", nil), ("code=a%2&state=STATE", nil),
            ("code=%ff&state=STATE", nil), ("", nil), ("code=" + String(repeating: "a", count: 20_000), nil),
        ])
    func answers(query: String, code: String?) throws {
        let pending = try Self.pending()
        let issuer = try Self.settings().issuer
        let result = Result {
            let answer = try AuthorizationAnswer(query: query.replacing("STATE", with: pending.state.reveal))
            try answer.require(pending, at: Self.now)
            return try answer.code(from: issuer, isIssuerRequired: false).reveal
        }
        switch code {
        case let code?: #expect(try result.get() == code)
        case nil: #expect(throws: SignInError.malformedAnswer) { try result.get() }
        }
    }

    @Test("an answer with another state, or outside the ten minutes, is refused")
    func state() throws {
        let pending = try Self.pending()
        func error(_ state: String, after duration: Duration) -> SignInError? {
            do throws(SignInError) {
                try AuthorizationAnswer(query: "code=a&state=\(state)").require(pending, at: Self.now + duration)
                return nil
            } catch { return error }
        }
        let state = pending.state.reveal
        #expect(error(state, after: .seconds(599)) == nil)
        #expect(error(state, after: .seconds(600)) == .tookTooLong)
        for other in ["", String(state.dropLast()), state + "A", try Self.pending().state.reveal] {
            #expect(error(other, after: .zero) == .otherSignIn)
        }
        #expect(try Self.pending(at: Self.now + .seconds(1)).isExpired(at: Self.now))
    }

    @Test("the parameter iss must name the provider, and a provider that promises it must send it")
    func mixUp() throws {
        let issuer = try Self.settings().issuer
        func code(_ query: String, isRequired: Bool) throws -> String {
            try AuthorizationAnswer(query: "code=a&state=s&" + query).code(from: issuer, isIssuerRequired: isRequired)
                .reveal
        }
        let own = "iss=https%3A%2F%2Fid.example.com%2Frealm"
        #expect(try code(own, isRequired: true) == "a")
        #expect(try code("", isRequired: false) == "a")
        #expect(throws: SignInError.otherProvider) { try code("", isRequired: true) }
        for other in [own + "%2F", "iss=https://evil.example", "iss="] {
            #expect(throws: SignInError.otherProvider) { try code(other + "&error=access_denied", isRequired: false) }
        }
    }

    @Test("an error of the provider is reported on one line, and without it on the person's page")
    func refusal() throws {
        let query =
            "state=s&error=access_denied&error_description=no%0Agroup%E2%80%AE" + String(repeating: "x", count: 300)
        let issuer = try Self.settings().issuer
        let error = try #require(throws: SignInError.self) {
            try AuthorizationAnswer(query: query).code(from: issuer, isIssuerRequired: false)
        }
        #expect(error.diagnostic.error.contains("access_denied (no?group?x") && error.diagnostic.error.count < 300)
        #expect(!error.sentence.contains("group"))
        #expect(ProviderRefusal(code: "<b>", description: "").code == "an unreadable error")
    }

    // MARK: The exchange

    @Test("the secret is sent by the method that the provider supports")
    func authentication() throws {
        let pending = try Self.pending()
        func request(_ secret: String?, _ methods: String) throws -> (headers: [String: String], body: String) {
            let request = try TokenExchange.request(
                for: Secret("c&d"), pending, try Self.settings(secret: secret),
                try Self.metadata(["token_endpoint_auth_methods_supported": methods]))
            return (
                Dictionary(request.headers.map { ($0.name, $0.value) }) { first, _ in first },
                String(decoding: request.body ?? [], as: UTF8.self)
            )
        }
        let basic = try request("a:b%", #"["client_secret_basic"]"#)
        let credentials = Base64.text(of: Array("console%3a%20one:a%3ab%25".utf8))
        #expect(basic.headers["Authorization"] == "Basic " + String(decoding: credentials, as: UTF8.self))
        #expect(
            basic.body
                == "grant_type=authorization_code&code=c%26d&"
                + "redirect_uri=https%3a%2f%2foffers.example.com%2fsign-in%2freturn&code_verifier="
                + pending.verifier.reveal)
        let post = try request("a:b%", #"["client_secret_post"]"#)
        #expect(post.headers["Authorization"] == nil)
        #expect(post.body.hasSuffix("&client_id=console%3a%20one&client_secret=a%3ab%25"))
        let open = try request(nil, #"["client_secret_basic"]"#)
        #expect(open.headers["Authorization"] == nil && open.body.hasSuffix("&client_id=console%3a%20one"))
        #expect(throws: SignInError.self) { try request("a", #"["private_key_jwt"]"#) }
    }

    @Test("only an answer with status 200 and an ID token is accepted")
    func tokenAnswers() throws {
        let issuer = try Self.settings().issuer
        func token(_ status: Int, _ body: String) throws -> String {
            let answer = IncomingResponse(status: status, body: Array(body.utf8))
            return String(decoding: try TokenExchange.token(in: answer, from: issuer), as: UTF8.self)
        }
        #expect(try token(200, #"{"id_token":"a.b.c"}"#) == "a.b.c")
        for (status, body) in [
            (200, "{}"), (200, ""), (200, #"{"id_token":"a","id_token":"b"}"#), (302, ""), (500, "x"),
        ] {
            let error = try #require(throws: SignInError.self) { try token(status, body) }
            #expect(error.diagnostic.error.contains("token endpoint"))
        }
        let refusal = SignInError.codeRefused(ProviderRefusal(code: "invalid_client", description: "no such client"))
        #expect(throws: refusal) {
            try token(401, #"{"error":"invalid_client","error_description":"no such client"}"#)
        }
        #expect(refusal.diagnostic.hint == "check the client ID and the client secret")
    }

    @Test("a fetched value is kept for its interval, asked for again after failures, and given up after a day")
    func fetched() throws {
        let failure = SignInError.provider(Diagnostic("it failed", hint: "wait"))
        var value = Fetched<Int>(every: .seconds(300))
        func dueAfter(_ start: Timestamp, isRequested: Bool = false) -> Int? {
            (0..<1000).first { value.isDue(at: start + .seconds($0), isRequested: isRequested) }
        }
        #expect(value.isDue(at: Self.now))
        value.fail(with: failure, at: Self.now)
        #expect(dueAfter(Self.now) == 5)
        #expect(throws: failure) { try value.requireValue(at: Self.now) }
        value.succeed(with: 1, at: Self.now)
        #expect(dueAfter(Self.now) == 300 && dueAfter(Self.now, isRequested: true) == 30)
        #expect(value.isDue(at: Self.now - .seconds(1)))
        value.fail(with: failure, at: Self.now + .seconds(300))
        #expect(dueAfter(Self.now + .seconds(300)) == 30)
        #expect(try value.requireValue(at: Self.now + .hours(23)) == 1)
        #expect(throws: failure) { try value.requireValue(at: Self.now + .hours(24)) }
        value.succeed(with: 2, at: Self.now)
        value.fail(with: failure, at: Self.now, isRevoked: true)
        #expect(throws: failure) { try value.requireValue(at: Self.now) }
    }
}
