import OfferCore
import TestSupport
import Testing

@testable import AppStoreTestSupport

/// Plays the six situations of docs/decisions.md, and compares the answers with those on the page.
@Suite("docs/decisions.md: the six situations")
struct DecidingPageTests {
    /// The JSON below a heading.
    private static func example(_ heading: String) throws -> String {
        let page = try MarkdownPage("docs/decisions.md").text
        let section = try #require(page.split(separator: "\n### \(heading)\n", maxSplits: 1).last)
        let block = try #require(section.split(separator: "```json\n", maxSplits: 1).dropFirst().first)
        return String(try #require(block.split(separator: "\n```", maxSplits: 1).first))
    }

    /// The configuration file on the page.
    private static func configuration() throws -> String {
        let block = try #require(try MarkdownBlock.all(in: "docs/decisions.md").first?.text)
        let text = try #require(block.split(separator: "<<END\n").last)
        return String(try #require(text.split(separator: "\nEND\n").first))
    }

    private static let product = "com.example.app.pro"

    @Test(
        "each customer gets the answer on the page",
        arguments: ["Win back", "Retention", "Upgrade", "Customer service", "Loyalty", "Save"])
    func context(heading: String) async throws {
        let token = "a-token-of-the-app-1"
        let story = try Story(
            service: StoreService(
                yaml: Self.configuration(),
                callers: [
                    try Caller.test("backend", [.sign], token: token),
                    try Caller.test("backend", [.facts], token: "a-token-of-a-backend"),
                ]))
        try await story.on(0) { try $0.subscribe(to: Self.product, at: $1, trial: heading == "Win back") }
        var day = 6.0
        switch heading {
        case "Win back":
            try await story.on(3) { try $0.setAutoRenew(false, at: $1) }
            try await story.on(30) { try $0.expire(at: $1) }
            day = 31
        case "Retention": try await story.on(5) { try $0.setAutoRenew(false, at: $1) }
        case "Upgrade": try await story.on(5) { try $0.choose("com.example.app.basic", at: $1) }
        case "Customer service": await story.setFact("careTicket", "true", token: "a-token-of-a-backend")
        case "Loyalty":
            for renewal in 1...11 { try await story.on(Double(renewal) * 30) { try $0.renew(at: $1) } }
            day = 331
        default: await story.setFact("churnRisk", #""high""#, token: "a-token-of-a-backend")
        }
        let decision = try await story.ask(on: day, sign: "false", token: token)
        #expect(decision.response.text == (try Self.example(heading)), "\(decision.response.text)")
    }
}
