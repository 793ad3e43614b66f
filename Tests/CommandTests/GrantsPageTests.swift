import Foundation
import OfferCore
import OfferEligibility
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

/// Follows docs/grants.md with a customer in the database.
@Suite("docs/grants.md", .serialized, .timeLimit(.minutes(5)))
struct GrantsPageTests {
    private let walk: PageWalk

    init() async throws { walk = try await PageWalk("docs/grants.md") }

    @Test("every code block on the page has a test")
    func everyBlockIsKnown() {
        #expect(walk.blocks.map(\.language) == ["yaml", "sh", "sh", "yaml"])
    }

    @Test("the request makes a grant, and the command lists it, makes no second one, and withdraws it")
    func commands() async throws {
        try await addSubscription()
        let environment = """
            export SUBSCRIPTION_OFFERS_CONFIG=offers.yaml SUBSCRIPTION_OFFERS_DATABASE=sqlite:subscribers.sqlite \
            SUBSCRIPTION_OFFERS_AUDIT_LOG=audit.jsonl
            """
        let settings = """
            cat > offers.yaml <<END
            \(walk.block(0))
            END
            \(environment)
            """
        let outcome = try walk.run(
            start: settings + "\noffer-signer serve --key-id 2X9R4HXF34\n",
            walk.block(1).trimmingCharacters(in: .newlines) + " > made.json",
            environment,
            "if \(walk.block(2).split(separator: "\n").dropLast().joined(separator: "\n")); then exit 9; fi",
            String(walk.block(2).split(separator: "\n").last ?? ""),
            #"id=$(grep -o '"id":"[^"]*"' made.json | cut -d'"' -f4)"#,
            #"offer-signer grants withdraw "$id" --bundle-id com.example.app"#, "cat made.json; echo")
        #expect(outcome.status == 0, "\(outcome.standardError)")
        let lines = outcome.standardOutput.split(separator: "\n").map(String.init)
        try #require(lines.count == 3, "\(lines)")
        #expect(lines[0].contains(" open Production com.example.app.pro.monthly winback_1m to "))
        #expect(lines[0].contains(", outage, by -, until "))
        #expect(lines[1].contains(" withdrawn Production "))
        #expect(lines[2].contains(#""state":"open""#) && lines[2].contains(#""ticket":"T-4711""#))
        #expect(outcome.standardError.contains("already has a grant"), "\(outcome.standardError)")
    }

    @Test("the table has every state")
    func states() throws {
        let rows = try MarkdownPage("docs/grants.md").rows.map { $0[0].replacing("`", with: "") }
        #expect(Set(OfferGrant.State.allCases.map(\.rawValue)).isSubset(of: Set(rows)))
    }

    /// Adds a subscription that is active now.
    private func addSubscription() async throws {
        let store = try #require(StoreLocation("sqlite:\(walk.folder.path)/subscribers.sqlite")).open()
        let today = (Date().timeIntervalSince1970 * 1000 - Double(Sample.day(0).milliseconds)) / 86_400_000
        let id = "2000000100000001"
        let token = UUIDText(parsing: Array("d3b07384-d113-4ec6-a7b1-6f1c2f5e9b10".utf8))
        let transaction = Sample.transaction(id, of: id, today - 1, today + 29) {
            $0.appTransactionID = Sample.id("7041234567890100000001")
            $0.appAccountToken = token
        }
        try await store.merge([transaction, Sample.renewal(of: id, signed: today - 1)], in: Sample.production)
        try store.close()
    }
}
