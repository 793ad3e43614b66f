import OfferCore
import OfferIdentity
import TestSupport
import Testing

@testable import OfferConfiguration

@Suite("The settings of the console")
struct ConsoleSettingsTests {
    private static let good = [
        "SUBSCRIPTION_OFFERS_CONSOLE_ADDRESS": "127.0.0.1:8081", "SUBSCRIPTION_OFFERS_AUDIT_LOG": "/tmp/audit.jsonl",
        "SUBSCRIPTION_OFFERS_KEY_ID": "TESTKEY123",
    ]

    private static func read(
        _ changes: [String: String?] = [:], development: Bool = false
    ) -> (configuration: Configuration, problems: [Diagnostic]) {
        var environment = good
        for (name, value) in changes { environment["SUBSCRIPTION_OFFERS_" + name] = value }
        var flags = Configuration.Flags()
        flags.development = development
        return Configuration.read(flags: flags, environment: environment)
    }

    @Test("a console on this machine needs an address, a database and an audit trail")
    func local() {
        let (configuration, problems) = Self.read()
        #expect(problems.isEmpty)
        #expect(configuration.console?.origin.text == "http://127.0.0.1:8081")
        #expect(configuration.console?.origin.isSecure == false)
        #expect(configuration.store != nil)
        #expect(
            Self.read(["AUDIT_LOG": nil]).problems.map(\.error) == [
                "there is a console, but no audit trail that records who looked at whom"
            ])
        #expect(Self.read(["CONSOLE_ADDRESS": nil]).configuration.console == nil)
    }

    @Test("a console that other machines reach needs TLS and its URL")
    func remote() {
        let errors = Self.read(["CONSOLE_ADDRESS": "0.0.0.0:8081"]).problems.map(\.error)
        #expect(errors.contains { $0.contains("the console's URL is unknown") })
        let plain = Self.read(["CONSOLE_ADDRESS": "0.0.0.0:8081", "CONSOLE_URL": "https://offers.example.com/"])
        #expect(plain.problems.map(\.error).contains { $0.contains("without TLS") })
        let proxied = Self.read([
            "CONSOLE_ADDRESS": "0.0.0.0:8081", "CONSOLE_URL": "https://Offers.example.com:443", "BEHIND_PROXY": "true",
        ])
        #expect(proxied.problems.isEmpty, "\(proxied.problems)")
        #expect(proxied.configuration.console?.origin.text == "https://offers.example.com")
        for url in ["http://offers.example.com", "https://a.example/path", "https://u:p@a.example", "a.example", ""] {
            #expect(!Self.read(["CONSOLE_URL": url]).problems.isEmpty || url.isEmpty, "\(url)")
        }
    }

    @Test("an identity provider needs a client ID and roles, and a role that does not exist is refused")
    func provider() {
        let names = ["CONSOLE_ISSUER": "https://id.example", "CONSOLE_CLIENT_ID": "console"]
        #expect(Self.read(names).problems.count == 1)
        let good = Self.read(
            names.merging(["CONSOLE_ROLES": "support=helpdesk, support=agents,operator=sre"]) { $1 })
        #expect(good.problems.isEmpty, "\(good.problems)")
        let roles = good.configuration.console?.provider?.roles
        #expect(roles?.roles(of: ["agents"]) == ["support"] && roles?.roles(of: ["sre", "x"]) == ["operator"])
        #expect(
            good.configuration.console?.provider?.settings.redirectURL.text == "http://127.0.0.1:8081/sign-in/return")
        #expect(!Self.read(names.merging(["CONSOLE_ROLES": "root=sre"]) { $1 }).problems.isEmpty)
        #expect(!Self.read(names.merging(["CONSOLE_ROLES": "support"]) { $1 }).problems.isEmpty)
        #expect(!Self.read(["CONSOLE_ISSUER": "http://id.example"]).problems.isEmpty)
    }
}
