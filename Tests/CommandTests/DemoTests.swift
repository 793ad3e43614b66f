import Foundation
import TestSupport
import Testing

/// Plays `scripts/demo` with the programs that were built with the tests.
@Suite("scripts/demo", .timeLimit(.minutes(10)))
struct DemoTests {
    @Test("a cancellation becomes an event, an e-mail, a link, a claim and a redemption")
    func played() throws {
        let programs = URL(filePath: Command.offerSigner).deletingLastPathComponent().path
        let outcome = try Command.run(
            "scripts/demo", [], environment: ["DEMO_PROGRAMS": programs], directory: MarkdownBlock.repository)
        #expect(outcome.status == 0, "\(outcome.standardError)")
        let story = outcome.standardOutput
        let start = try #require(story.range(of: "Fay switches auto-renew off"), "\(story)").upperBound
        var rest = story[start...]
        for part in [
            #""type": "became_eligible""#, #""offerID": "letter_1m""#, "To: Fay\n", "http://127.0.0.1:",
            #""counts":true"#, #""offers":["letter_1m"]"#, #""type": "redeemed""#, #""offerID": "letter_1m""#,
            "Ana's new week has begun",
        ] {
            let found = try #require(rest.range(of: part), "\(part) is missing in: \(rest)")
            rest = rest[found.upperBound...]
        }
    }
}
