import Foundation
import OfferCore
import OfferEligibility
import StoreTestSupport
import SubscriberStore
import SubscriberSync
import TestSupport
import Testing

/// Runs the commands in docs/testing.md, with a tester of the sandbox in the database.
@Suite("docs/testing.md", .serialized, .timeLimit(.minutes(5)))
struct TestingPageTests {
    private static let id = "2000000100000001"
    private let walk: PageWalk

    init() async throws { walk = try await PageWalk("docs/testing.md") }

    @Test("every code block on the page has a test")
    func everyBlockIsKnown() {
        #expect(walk.blocks.map(\.language) == Array(repeating: "sh", count: 5))
    }

    @Test("each command does what the page says: a week is 70 seconds, and a new round begins with an erasure")
    func commands() async throws {
        let checked = try walk.shell(walk.block(0))
        #expect(checked.status == 0, "\(checked.standardError)")
        #expect(checked.standardOutput.contains("winback_1m: rule gone"))
        let end = try await addTester()
        let at = { (seconds: Int) in
            " --at " + String(decoding: (end + .seconds(seconds)).iso8601.prefix(19), as: UTF8.self) + "Z"
        }
        let settings = walk.block(1).split(separator: "\n").filter { $0.hasPrefix("export") }.joined(separator: "\n")
        let decide = walk.block(3).trimmingCharacters(in: .newlines)
        let outcome = try walk.run(
            start: walk.block(1), settings, walk.block(2), decide + at(69), decide + at(70), walk.block(4), "echo",
            walk.block(2))
        #expect(outcome.status == 0, "\(outcome.standardError)")
        let lines = outcome.standardOutput.split(separator: "\n").map(String.init)
        try #require(lines.count >= 9, "\(lines)")
        #expect(lines[0].contains(#""environment":"Sandbox""#) && lines[0].contains(#""endedBecause":"cancelled""#))
        #expect(lines[3] == "no   com.example.app.pro.monthly winback_1m, by the rule gone")
        #expect(lines[4].contains("ended_ago"))
        #expect(lines.contains("yes  com.example.app.pro.monthly winback_1m, by the rule gone"))
        #expect(lines[lines.count - 2] == #"{"subscriptions":1,"payloads":0}"#, "what was erased")
        #expect(lines.last == #"{"customers":[]}"#)
    }

    /// Adds a subscription that renewed every five minutes, until the tester cancelled it.
    /// - Returns: its end, on a whole second.
    private func addTester() async throws -> Timestamp {
        let store = try #require(StoreLocation("sqlite:\(walk.folder.path)/testing.sqlite")).open()
        let end = Timestamp(milliseconds: (Int64(Date().timeIntervalSince1970) - 3600) * 1000)
        let product = try ProductID(utf8: Array("com.example.app.pro.monthly".utf8))
        let token = UUIDText(parsing: Array("d3b07384-d113-4ec6-a7b1-6f1c2f5e9b10".utf8))
        var purchase = Purchase(productID: product, purchaseDate: end + .seconds(-300))
        purchase.type = .autoRenewableSubscription
        purchase.subscriptionGroupID = "21012345"
        purchase.expiresDate = end
        purchase.ownership = .purchased
        purchase.reason = .purchase
        purchase.appAccountToken = token
        var renewal = Renewal(productID: product, autoRenewStatus: .off)
        renewal.expirationIntent = .cancelled
        renewal.appAccountToken = token
        let values = [(SubscriberFact.Value.transaction(purchase), -299), (.renewalInfo(renewal), 1)]
        let facts = values.map { value, signed in
            SubscriberFact(
                value, transactionID: Sample.id(Self.id), originalTransactionID: Sample.id(Self.id),
                signedDate: end + .seconds(signed), digest: Sample.digest(Array("\(signed)".utf8)))
        }
        try await store.merge(facts, in: Sample.sandbox)
        try store.close()
        return end
    }
}
