import Foundation
import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferService
import TestSupport
import Testing

/// Runs the commands about rules in docs/decisions.md.
@Suite("docs/decisions.md: rules", .serialized, .timeLimit(.minutes(5)))
struct RulesPageTests {
    @Test("the example is checked, and a mistake in it is named")
    func example() async throws {
        let walk = try await PageWalk("docs/decisions.md")
        try walk.folder.write(walk.block(8).utf8, to: "offers.yaml")
        let checked = try walk.shell(walk.block(9))
        #expect(checked.status == 0, "\(checked.standardError)")
        #expect(
            checked.standardOutput
                .hasPrefix(
                    "com.example.app com.example.app.pro.monthly winback_1m: rule long_gone, priority 20\nnote: "))
        #expect(checked.standardOutput.hasSuffix("\nok: the rules are consistent\n"))
        #expect(!checked.standardOutput.contains("warning: "))
        try walk.folder.write(walk.block(8).replacing("atLeast: 7d", with: "atLeast: 7").utf8, to: "offers.yaml")
        let refused = try walk.shell(walk.block(9))
        #expect(refused.status == 1)
        #expect(
            refused.standardError.contains(
                "line 19: rules.long_gone.all[0].subscription.endedAgo.atLeast: \"7\" is not valid here"))
    }

    @Test("the example of what to show instead is a configuration file with these cases")
    func alternatives() async throws {
        let walk = try await PageWalk("docs/decisions.md")
        let (file, problems) = ConfigurationFile.read(Array(walk.block(10).utf8), name: "file")
        #expect(problems == [] && file.catalogue?.apps.values.first?.rules.instead.count == 4)
    }

    @Test("the built-in rules that are printed can be used as they are, and the page lists them")
    func builtIn() throws {
        let shown = try Command.runOfferSigner(["rules", "show"])
        #expect(shown.status == 0)
        let text = "apps: [{bundleID: a, products: []}]\n" + shown.standardOutput
        let (file, problems) = ConfigurationFile.read(Array(text.utf8), name: "file")
        #expect(problems == [] && file.rules == BuiltInRules.conditions)
        let listed = try MarkdownPage("docs/decisions.md").rows.map { $0[0].replacing("`", with: "") }
        for name in file.rules.keys { #expect(listed.contains(name)) }
    }

    @Test("each condition in the tables of the page is one")
    func conditions() throws {
        let rows = try MarkdownPage("docs/decisions.md").rows.drop { $0[0] != "condition" }.prefix {
            !$0[0].hasPrefix("member of ")
        }
        var count = 0
        for row in rows where row[0].hasPrefix("`") && row[0].contains(": ") && !row[0].contains("…") {
            let condition = row[0].replacing("`", with: "").replacing("rule: NAME", with: "rule: loyalty")
            let text = "apps: [{bundleID: a, products: []}]\nrules: {r: {\(condition)}}"
            #expect(ConfigurationFile.read(Array(text.utf8), name: "file").problems == [], "\(condition)")
            count += 1
        }
        #expect(count >= 13)
    }
}
