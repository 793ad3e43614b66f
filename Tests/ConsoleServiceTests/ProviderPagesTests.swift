import Foundation
import OfferConsole
import OfferCore
import OfferCrypto
import OfferHTTP
import OfferIdentity
import SignInTestSupport
import TestSupport
import Testing

@testable import ConsoleService
@testable import OfferConfiguration

@Suite("Signing in to the console at an identity provider")
struct ProviderPagesTests {
    private struct Setup {
        let console: TestConsole
        let provider: TestProvider
        let certificates: TLSCertificates
        let folder: TemporaryFolder

        init() async throws {
            folder = try TemporaryFolder()
            certificates = try TLSCertificates(folder: folder.path)
            provider = try await TestProvider(certificates)
            let roots = try X509Certificate.readAll([UInt8](Data(contentsOf: URL(filePath: certificates.rootPath))))
            let settings = try SignInSettings(
                issuer: provider.url, clientID: "console",
                redirectURL: TestConsole.origin + ConsoleSettings.returnPath, roots: roots)
            console = try await TestConsole(
                provider: ConsoleSettings.Provider(
                    settings: settings, roles: RoleMapping(["support": ["helpdesk"], "root": ["admins"]])))
            console.setTime(Timestamp(.now))
        }

        /// Goes to the provider and back, as a browser would.
        /// - Returns: the answer of the console, and the cookie of the sign-in.
        func goThrough() async throws -> (HTTPResponse, cookie: String, target: String) {
            let start = await console.get("/sign-in/provider")
            let cookie = String(try #require(start.values(of: "Set-Cookie").first).prefix { $0 != ";" })
            let away = try #require(start.location)
            let target = "/sign-in/return?" + provider.answer(to: away)
            return (await console.get(target, cookie: cookie), cookie, target)
        }
    }

    @Test("a person with a role is signed in, with the name and identifier of the provider, and the code works once")
    func signsIn() async throws {
        let setup = try await Setup()
        setup.provider.behaviour.claims["groups"] = #"["helpdesk","admins"]"#
        let page = await setup.console.get("/sign-in")
        #expect(page.text.contains("/sign-in/provider"))
        let (answer, cookie, target) = try await setup.goThrough()
        #expect(answer.location == "/")
        let session = try #require(answer.values(of: "Set-Cookie").first { $0.hasPrefix("__Host-console=") })
        let value = String(session.prefix { $0 != ";" })
        #expect(await setup.console.get("/find", cookie: value).status == 200)
        #expect(await setup.console.get("/health", cookie: value).status == 403, "the role root does not exist")
        #expect(try setup.console.auditLines().first?.contains(#""subject":"#) == true)
        #expect(await setup.console.get(target, cookie: cookie).location == "/sign-in?reason=refused")
        #expect(await setup.console.get(target).location == "/sign-in?reason=refused", "without the cookie")
        await setup.console.close()
    }

    @Test("a person without a role, and a token that does not verify, are refused")
    func refuses() async throws {
        let setup = try await Setup()
        setup.provider.behaviour.claims["groups"] = #"["others"]"#
        let (stranger, _, _) = try await setup.goThrough()
        #expect(stranger.location == "/sign-in?reason=refused" && stranger.values(of: "Set-Cookie").isEmpty)
        setup.provider.behaviour.claims["groups"] = #"["helpdesk"]"#
        setup.provider.behaviour.claims["aud"] = #""another""#
        let (forged, _, _) = try await setup.goThrough()
        #expect(forged.location == "/sign-in?reason=refused" && forged.values(of: "Set-Cookie").isEmpty)
        #expect(try setup.console.auditLines().isEmpty)
        #expect(setup.console.log.text.contains("a person without a role was not signed in"))
        await setup.console.close()
    }
}
