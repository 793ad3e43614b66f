import Foundation
import OfferCore
import OfferCrypto
import OfferIdentity
import OutgoingHTTP
import SignInTestSupport
import TestSupport
import Testing

@Suite("Sign-in at a hostile provider", .timeLimit(.minutes(10)))
struct HostileProviderTests {
    private static let now = Timestamp(milliseconds: 1_800_000_000_000)
    private static let back = "https://offers.example.com/sign-in/return"

    /// A provider over TLS, and the console's side of it.
    private final class Fixture: Sendable {
        let server: TestProvider
        let client: OutgoingClient
        let provider: OpenIDProvider

        init(
            timeout: Duration = .seconds(120),
            _ change: (inout TestProvider.Behaviour, _ url: String) -> Void = { _, _ in }
        )
            async throws
        {
            let tls = try SignInTLS.shared.get()
            server = try await TestProvider(tls.certificates) { HostileProviderTests.now.milliseconds / 1000 }
            change(&server.behaviour, server.url)
            let settings = try SignInSettings(
                issuer: server.url, clientID: "console", redirectURL: HostileProviderTests.back, roots: tls.roots)
            client = try settings.makeClient()
            provider = OpenIDProvider(settings, client: client, timeout: timeout)
        }

        /// Begins a sign-in and returns with the provider's answer.
        func answered(at now: Timestamp = now) async throws -> (query: String, pending: PendingSignIn) {
            let (location, pending) = try await provider.begin(at: now)
            return (server.answer(to: location), pending)
        }

        func signIn(at now: Timestamp = now) async throws -> SignedInPerson {
            let (query, pending) = try await answered(at: now)
            return try await provider.finish(query: query, pending, at: now)
        }

        /// The error of a sign-in, or nil if it succeeds.
        func failure(at now: Timestamp = now) async throws -> SignInError? {
            do { _ = try await signIn(at: now) } catch let error as SignInError { return error }
            return nil
        }

        /// - Parameter error: nil if the sign-in must succeed.
        func expect(
            _ error: SignInError?, at now: Timestamp = now, sourceLocation: SourceLocation = #_sourceLocation
        ) async throws {
            let found = try await failure(at: now)
            #expect(found == error, sourceLocation: sourceLocation)
        }
    }

    /// Runs a test and closes the client, even if the test fails.
    private static func with(_ fixture: Fixture, _ body: (Fixture) async throws -> Void) async throws {
        let result: Result<Void, any Error>
        do { result = .success(try await body(fixture)) } catch { result = .failure(error) }
        await fixture.client.close()
        try result.get()
    }

    @Test("an honest provider signs a person in, and its documents are fetched once")
    func honest() async throws {
        try await Self.with(Fixture()) { fixture in
            for _ in 0..<3 {
                let person = try await fixture.signIn()
                #expect(person.subject == "person-1" && person.displayName == "Ada Lovelace")
                #expect(person.roleValues == ["support"])
            }
            #expect(fixture.server.requests("/.well-known/openid-configuration") == 1)
            #expect(fixture.server.requests("/jwks") == 1 && fixture.server.requests("/token") == 3)
        }
    }

    @Test(
        "a token that is not for this sign-in is refused",
        arguments: [
            (["iss": #""https://id.example.com""#], SignInError.invalidToken(.unknownIssuer)),
            (["iss": nil], .invalidToken(.unknownIssuer)), (["aud": #""other""#], .invalidToken(.audience)),
            (["aud": #"["other"]"#], .invalidToken(.audience)), (["aud": nil], .invalidToken(.audience)),
            (["aud": #"["console","other"]"#], .unsuitableToken(.otherParty)),
            (["aud": #"["console","other"]"#, "azp": #""other""#], .unsuitableToken(.otherParty)),
            (["azp": #""other""#], .unsuitableToken(.otherParty)), (["azp": "1"], .unsuitableToken(.otherParty)),
            (["nonce": #""other""#], .unsuitableToken(.nonce)), (["nonce": nil], .unsuitableToken(.nonce)),
            (["exp": "1800000000"], .invalidToken(.expired)), (["exp": nil], .invalidToken(.noExpiry)),
            (["iat": "1800000061"], .invalidToken(.notYet)), (["nbf": "1800000061"], .invalidToken(.notYet)),
            (["iat": nil], .unsuitableToken(.noIssueTime)), (["sub": nil], .unsuitableToken(.noSubject)),
            (["groups": "{}"], .unsuitableToken(.roleClaim)), (["events": "{}"], .invalidToken(.events)),
        ] as [([String: String?], SignInError)])
    func claims(changes: [String: String?], error: SignInError) async throws {
        try await Self.with(Fixture { behaviour, _ in behaviour.claims = changes }) { fixture in
            try await fixture.expect(error)
        }
    }

    @Test(
        "claims at the edge of what is allowed are accepted",
        arguments: [
            ["aud": #"["console"]"#], ["aud": #"["console","other"]"#, "azp": #""console""#], ["iat": "1800000060"],
            ["exp": "1800000000.001"], ["groups": nil, "name": nil],
        ] as [[String: String?]])
    func goodClaims(changes: [String: String?]) async throws {
        try await Self.with(Fixture { behaviour, _ in behaviour.claims = changes }) { fixture in
            try await fixture.expect(nil)
        }
    }

    @Test("a token signed by another key, by none, or with the public key as a secret is refused")
    func signatures() async throws {
        try await Self.with(Fixture()) { fixture in
            let server = fixture.server
            let cases: [(TestProvider.Signature, UserTokenFault)] = [
                (.key(ProviderKey()), .signature), (.key(ProviderKey(kid: "key-2")), .unknownKey),
                (.none(""), .notThreeParts), (.none("AAAA"), .algorithmNotAllowed),
                (.hmac(server.behaviour.keySet), .algorithmNotAllowed),
                (.hmac(try server.key.jwk()), .algorithmNotAllowed),
            ]
            for (signature, fault) in cases {
                server.behaviour.signature = signature
                try await fixture.expect(.invalidToken(fault))
            }
            server.behaviour.signature = .key(server.key)
            try await fixture.expect(nil)
        }
    }

    @Test("a code that was stolen or used before is refused, with and without the provider's help")
    func stolenCode() async throws {
        try await Self.with(Fixture()) { fixture in
            let victim = try await fixture.answered()
            let thief = try await fixture.answered()
            // The thief puts the victim's code into the answer to a sign-in of their own.
            func field(_ name: String, _ query: String) -> String {
                query.split(separator: "&").first { $0.hasPrefix(name + "=") }.map(String.init) ?? ""
            }
            let injected = field("code", victim.query) + "&" + field("state", thief.query)
            let refused = await #expect(throws: SignInError.self) {
                try await fixture.provider.finish(query: injected, thief.pending, at: Self.now)
            }
            guard case .codeRefused = refused else { return #expect(refused == nil) }
            // A provider that does not check codes cannot help the thief: the nonce in the token is the victim's.
            fixture.server.behaviour.checksCodes = false
            await #expect(throws: SignInError.unsuitableToken(.nonce)) {
                try await fixture.provider.finish(query: injected, thief.pending, at: Self.now)
            }
            fixture.server.behaviour.checksCodes = true
            let honest = try await fixture.answered()
            _ = try await fixture.provider.finish(query: honest.query, honest.pending, at: Self.now)
            let twice = await #expect(throws: SignInError.self) {
                try await fixture.provider.finish(query: honest.query, honest.pending, at: Self.now)
            }
            guard case .codeRefused = twice else { return #expect(twice == nil) }
        }
    }

    @Test("the answer to an earlier or another sign-in is refused before the provider is asked")
    func replayedState() async throws {
        try await Self.with(Fixture()) { fixture in
            let earlier = try await fixture.answered()
            let current = try await fixture.answered()
            await #expect(throws: SignInError.otherSignIn) {
                try await fixture.provider.finish(query: earlier.query, current.pending, at: Self.now)
            }
            await #expect(throws: SignInError.tookTooLong) {
                try await fixture.provider.finish(query: earlier.query, earlier.pending, at: Self.now + .seconds(600))
            }
            #expect(fixture.server.requests("/token") == 0)
        }
    }

    @Test("an answer that names another provider, or none although one is promised, is refused before the code is sent")
    func mixUp() async throws {
        try await Self.with(Fixture { behaviour, _ in behaviour.answer = ["iss": "https://evil.example"] }) { fixture in
            try await fixture.expect(.otherProvider)
            #expect(fixture.server.requests("/token") == 0)
            fixture.server.behaviour.answer = ["iss": fixture.server.url]
            try await fixture.expect(nil)
        }
        let promise = ["authorization_response_iss_parameter_supported": "true"]
        try await Self.with(Fixture { behaviour, _ in behaviour.discovery = promise }) { fixture in
            try await fixture.expect(.otherProvider)
            #expect(fixture.server.requests("/token") == 0)
        }
    }

    @Test("a refusal of the provider is reported")
    func refusal() async throws {
        let answer = ["error": "access_denied", "error_description": "not in the group"]
        try await Self.with(Fixture { behaviour, _ in behaviour.answer = answer }) { fixture in
            let error = try #require(try await fixture.failure())
            #expect(error.diagnostic.error.hasSuffix("access_denied (not in the group)"))
        }
    }

    @Test("a discovery document of another issuer is refused")
    func otherIssuer() async throws {
        let discovery = ["issuer": #""https://id.example.com""#]
        try await Self.with(Fixture { behaviour, _ in behaviour.discovery = discovery }) { fixture in
            let error = try #require(try await fixture.failure())
            #expect(error.diagnostic.error.hasSuffix("belongs to another issuer, or to none"))
        }
    }

    @Test(
        "a redirect, an answer of 10 MB, a slow answer and an error are refused from every document",
        arguments: ["/.well-known/openid-configuration", "/jwks", "/token"], ["redirect", "large", "slow", "error"])
    func faults(path: String, kind: String) async throws {
        // Short only where the test waits for it.
        try await Self.with(Fixture(timeout: kind == "slow" ? .seconds(1) : .seconds(120))) { fixture in
            let server = fixture.server
            let (fault, reason): (TestProvider.Fault, String) =
                switch kind {
                case "redirect": (.redirect(to: server.url + "/elsewhere"), "answered with HTTP status 307")
                case "large": (.body(String(repeating: " ", count: 10_000_000)), " bytes")
                case "slow": (.silence, "sent no complete response in time")
                default: (.status(500, ""), "answered with HTTP status 500")
                }
            server.behaviour.faults = [path: fault]
            let error = try #require(try await fixture.failure())
            #expect(error.diagnostic.error.contains(reason), "\(error.diagnostic.error)")
            #expect(server.requests("/elsewhere") == 0)
            guard kind != "slow" else { return }
            // The provider recovers.
            server.behaviour.faults = [:]
            try await fixture.expect(nil, at: Self.now + .seconds(5))
        }
    }

    @Test("a provider whose certificate is not trusted is refused")
    func certificate() async throws {
        try await Self.with(Fixture()) { fixture in
            let settings = try SignInSettings(
                issuer: fixture.server.url, clientID: "console", redirectURL: Self.back)
            let client = try settings.makeClient()
            let error = await #expect(throws: SignInError.self) {
                try await OpenIDProvider(settings, client: client).begin(at: Self.now)
            }
            await client.close()
            #expect(error?.diagnostic.error.contains("TLS certificate that is not trusted") == true)
        }
    }

    @Test("a new key is fetched once, and unknown keys cause at most one fetch in 30 seconds")
    func rotation() async throws {
        try await Self.with(Fixture()) { fixture in
            let server = fixture.server
            try await fixture.expect(nil)
            let new = ProviderKey(kid: "key-2")
            server.behaviour.signature = .key(new)
            server.behaviour.keySet = try ProviderKey.set(server.key, new)
            try await fixture.expect(.invalidToken(.unknownKey), at: Self.now + .seconds(29))
            #expect(server.requests("/jwks") == 1)
            try await fixture.expect(nil, at: Self.now + .seconds(30))
            server.behaviour.signature = .key(ProviderKey(kid: "key-3"))
            for _ in 0..<5 {
                try await fixture.expect(.invalidToken(.unknownKey), at: Self.now + .seconds(59))
            }
            #expect(server.requests("/jwks") == 2)
        }
    }

    @Test("the last keys stay in use while the key set cannot be fetched, but not if it holds a private key")
    func staleKeys() async throws {
        try await Self.with(Fixture()) { fixture in
            let server = fixture.server
            try await fixture.expect(nil)
            server.behaviour.claims = ["exp": "1900000000"]
            server.behaviour.faults = ["/jwks": .status(503, "")]
            try await fixture.expect(nil, at: Self.now + .seconds(400))
            server.behaviour.faults = [:]
            server.behaviour.keySet = ProviderKey.set([try server.key.jwk(["d": "AAAA"])])
            let error = try #require(try await fixture.failure(at: Self.now + .seconds(430)))
            #expect(error.diagnostic.error.contains("private or symmetric key"))
        }
    }

    @Test("a key set at a new place replaces the old one at once")
    func movedKeys() async throws {
        try await Self.with(Fixture()) { fixture in
            let server = fixture.server
            try await fixture.expect(nil)
            server.behaviour.discovery = ["jwks_uri": "\"\(server.url)/missing\""]
            let error = try #require(try await fixture.failure(at: Self.now + .hours(1)))
            #expect(error.diagnostic.error.contains("/missing answered with HTTP status 404"))
        }
    }
}
