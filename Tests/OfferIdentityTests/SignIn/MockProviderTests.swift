import Foundation
import OfferCore
import OfferCrypto
import OfferIdentity
import OutgoingHTTP
import SignInTestSupport
import TestSupport
import Testing

/// The package `oidc-provider-mock` is another implementation of OpenID Connect.
@Suite("Sign-in at oidc-provider-mock", .serialized, .timeLimit(.minutes(10)))
struct MockProviderTests {
    private static let back = "https://offers.example.com/sign-in/return"

    private static var now: Timestamp { Timestamp(Date()) }

    private static func with(
        authentication: String, wrongSecret: Bool = false,
        _ body: (MockProvider, OpenIDProvider) async throws -> Void
    ) async throws {
        let tls = try SignInTLS.shared.get()
        let server = try MockProvider(
            tls.certificates, people: #"{"sub":"ada","name":"Ada Lovelace","groups":["support","staff"]}"#)
        let registered = try server.register(redirectURL: back, authentication: authentication)
        let settings = try SignInSettings(
            issuer: server.url, clientID: registered.id,
            clientSecret: Secret(wrongSecret ? "wrong" : registered.secret), redirectURL: back, roots: tls.roots)
        let client = try settings.makeClient()
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(server, OpenIDProvider(settings, client: client, timeout: .seconds(120))))
        } catch { result = .failure(error) }
        await client.close()
        try result.get()
    }

    @Test("a person signs in with their name and groups, and the code works once")
    func signsIn() async throws {
        try await Self.with(authentication: "client_secret_basic") { server, provider in
            let (location, pending) = try await provider.begin(at: Self.now)
            let query = try server.signIn("ada", at: location)
            let cookie = try #require(PendingSignIn(cookieValue: pending.cookieValue.reveal))
            let person = try await provider.finish(query: query, cookie, at: Self.now)
            #expect(person.subject == "ada" && person.displayName == "Ada Lovelace")
            #expect(RoleMapping(["support": ["support"]]).roles(of: person.roleValues) == ["support"])
            let error = await #expect(throws: SignInError.self) {
                try await provider.finish(query: query, cookie, at: Self.now)
            }
            #expect(error?.diagnostic.error.contains("invalid_grant") == true)
        }
    }

    @Test("a person without a name and groups is shown by their address")
    func unknownPerson() async throws {
        try await Self.with(authentication: "client_secret_basic") { server, provider in
            let (location, pending) = try await provider.begin(at: Self.now)
            let query = try server.signIn("bob@example.com", at: location)
            let person = try await provider.finish(query: query, pending, at: Self.now)
            #expect(person.displayName == "bob@example.com" && person.roleValues == [])
        }
    }

    @Test("a wrong client secret is reported")
    func wrongSecret() async throws {
        try await Self.with(authentication: "client_secret_basic", wrongSecret: true) { server, provider in
            let (location, pending) = try await provider.begin(at: Self.now)
            let query = try server.signIn("ada", at: location)
            let error = await #expect(throws: SignInError.self) {
                try await provider.finish(query: query, pending, at: Self.now)
            }
            #expect(error?.diagnostic.hint == "check the client ID and the client secret")
        }
    }
}
