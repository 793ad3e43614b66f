import Foundation
import OfferAudit
import OfferConfiguration
import TestSupport
import Testing

/// Reads the settings and runs the commands in docs/console.md, except for the two scripts.
@Suite("docs/console.md", .serialized, .timeLimit(.minutes(5)))
struct ConsolePageTests {
    private let walk: PageWalk

    init() async throws { walk = try await PageWalk("docs/console.md") }

    @Test("every code block on the page has a test")
    func everyBlockIsKnown() {
        // The demonstration, the service; the settings; a link; the settings of a provider; the sessions.
        #expect(walk.blocks.map(\.language) == ["sh", "sh", "text", "sh", "text", "sh"])
        for (index, script) in [(0, "scripts/demo"), (1, "scripts/run")] {
            #expect(walk.block(index).hasPrefix(script + " "))
            let path = MarkdownBlock.repository.appending(path: script).path
            #expect(FileManager.default.isExecutableFile(atPath: path))
        }
    }

    @Test("the part for auditors names every act that has a line")
    func acts() throws {
        let page = try String(contentsOf: MarkdownBlock.repository.appending(path: "docs/console.md"), encoding: .utf8)
        let part = try #require(
            page.components(separatedBy: "## Auditor: who did what").last?.components(separatedBy: "\n## ").first)
        let named = part.matches(of: /`((?:console|customer)_[a-z_]+)`/).map { String($0.output.1) }
        let grants = [CustomerChange.Kind.grant, .grantApproval, .grantWithdrawal].map(\.rawValue)
        #expect(named.sorted() == (ConsoleAct.Kind.allCases.map(\.rawValue) + grants).sorted())
    }

    @Test("the settings turn on a console, with and without an identity provider")
    func settings() {
        for hasProvider in [false, true] {
            let text = "SUBSCRIPTION_OFFERS_KEY_ID=A\n" + walk.block(2) + (hasProvider ? walk.block(4) : "")
            let (values, unreadable) = EnvironmentFile.read(Array(text.utf8), name: "env")
            let (configuration, problems) = Configuration.read(flags: .init(), environment: values)
            #expect(unreadable == [] && problems == [])
            #expect(configuration.console?.origin.text == "https://offers.example.com")
            #expect((configuration.console?.provider != nil) == hasProvider)
        }
    }

    @Test("the commands make a link, list the sessions and end them")
    func commands() throws {
        let settings = walk.block(2).replacing("/var/lib/offer-signer/", with: "").replacing(
            "/var/log/offer-signer/", with: "")
        try walk.folder.write(settings.utf8, to: "offer-signer.env", mode: 0o600)
        // The page's service has created the database.
        let made = try walk.shell("offer-signer database migrate --env-file offer-signer.env")
        #expect(made.status == 0, "\(made.standardError)")
        let outcome = try walk.shell(walk.block(3) + walk.block(5))
        #expect(outcome.status == 0, "\(outcome.standardError)")
        let lines = outcome.standardOutput.split(separator: "\n")
        #expect(lines.first?.hasPrefix("https://offers.example.com/sign-in/link?token=") == true)
        #expect(lines.dropFirst() == ["nobody is signed in", "0 sessions ended"])
        #expect(outcome.standardError.contains("the link works once, within five minutes\n"))
    }
}
