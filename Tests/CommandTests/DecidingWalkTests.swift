import Foundation
import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferService
import StoreTestSupport
import SubscriberStore
import SubscriberSync
import TestSupport
import Testing

/// Runs the commands in docs/decisions.md. The six situations and the rules have tests of their own.
@Suite("docs/decisions.md", .serialized, .timeLimit(.minutes(5)))
struct DecidingWalkTests {
    private let walk: PageWalk

    /// The page's shell has the settings of the service.
    private static let settings =
        "export SUBSCRIPTION_OFFERS_CONFIG=offers.yaml SUBSCRIPTION_OFFERS_DATABASE=sqlite:subscribers.sqlite"

    init() async throws { walk = try await PageWalk("docs/decisions.md") }

    @Test("every code block on the page has a test")
    func everyBlockIsKnown() {
        #expect(
            walk.blocks.map(\.language) == ["sh", "sh"] + Array(repeating: "json", count: 6) + [
                // A rule and its check, what to show instead, the alarms, introductory offers, and a decision with its
                // answer.
                "yaml", "sh", "yaml", "sh", "sh", "json", "sh", "text",
            ])
    }

    @Test("a customer nobody knows gets reasons, and there is no alarm")
    func commands() throws {
        let outcome = try walk.run(
            start: walk.block(0), walk.block(1), "echo", Self.settings, walk.block(11), walk.block(12),
            "offer-signer rules check", "offer-signer rules try offers.yaml")
        #expect(outcome.status == 0, "\(outcome.standardError)")
        let lines = outcome.standardOutput.split(separator: "\n").map(String.init)
        try #require(lines.count > 4, "\(lines)")
        #expect(lines[0].hasPrefix(#"{"environment":"Production","subscriptions":[],"offers":[],"refused":["#))
        #expect(lines[0].contains(#""missing":"history""#))
        #expect(lines[1] == "ok: every redemption has a signature of this service")
        #expect(lines[2] == "ok: there is no alarm")
        #expect(lines[3] == "com.example.app com.example.app.pro winback: rule win_back, priority 30")
        #expect(lines.last?.hasPrefix("0 customers") == true)
    }

    @Test("the decision about one customer is explained")
    func decide() throws {
        let outcome = try walk.run(start: walk.block(0), Self.settings, walk.block(14))
        #expect(outcome.status == 0, "\(outcome.standardError)")
        #expect(outcome.standardOutput.hasPrefix(walk.block(15).trimmingCharacters(in: .newlines) + "\n"))
    }

    @Test("a redemption without a signature is shown, and acknowledged by its number")
    func alarm() async throws {
        let start = walk.block(0)
        let text = try #require(start.split(separator: "<<END\n").last?.split(separator: "\nEND\n").first)
        try walk.folder.write(Array(text.utf8), to: "offers.yaml")
        let (file, _) = ConfigurationFile.read(Array(text.utf8), name: "file")
        let store = try #require(StoreLocation("sqlite:\(walk.folder.path)/subscribers.sqlite")).open()
        try await store.beginLedger(try #require(file.catalogue).ledgerCoverage, at: Sample.day(0))
        let product = try ProductID(utf8: Array("com.example.app.pro".utf8))
        let fact = Sample.transaction("1", of: "1", 3, 33) { purchase in
            var bought = Purchase(productID: product, purchaseDate: purchase.purchaseDate)
            bought.type = purchase.type
            bought.expiresDate = purchase.expiresDate
            bought.offer = AppliedOffer(type: .promotional, identifier: "stay", discountType: .payAsYouGo)
            purchase = bought
        }
        try await store.merge([fact], in: Sample.production)
        try store.close()
        let shown = try walk.shell("\(Self.settings)\n\(walk.block(11))")
        #expect(shown.status == 1)
        #expect(
            shown.standardOutput == "1 2025-10-12T08:53:20.000Z com.example.app Production com.example.app.pro stay\n")
        let unknown = try walk.shell("\(Self.settings)\noffer-signer alarms acknowledge 2")
        #expect(unknown.status == 1 && unknown.standardError.contains("there is no alarm 2"))
        let nothing = try walk.shell("\(Self.settings)\noffer-signer alarms acknowledge")
        #expect(nothing.status == 64)
        let acknowledged = try walk.shell("\(Self.settings)\noffer-signer alarms acknowledge 1")
        #expect(acknowledged.status == 0, "\(acknowledged.standardError)")
        #expect(acknowledged.standardOutput == "acknowledged: " + shown.standardOutput)
        let ended = try walk.shell("\(Self.settings)\n\(walk.block(11))")
        #expect(ended.status == 0)
    }
}
