import Foundation
import OfferCore
import OfferEligibility
import OfferService
import SubscriberSync
import TestSupport
import Testing

/// Runs the commands for notifications in docs/app-store.md, with the chain of docs/app-store-data.md.
@Suite("docs/app-store.md: notifications", .serialized, .timeLimit(.minutes(5)))
struct NotificationsPageTests {
    private let walk: PageWalk
    /// The blocks of docs/app-store-data.md that make a chain and sign with it.
    private let chain: String
    private let signing: String

    init() async throws {
        walk = try await PageWalk("docs/app-store.md")
        let other = try MarkdownBlock.all(in: "docs/app-store-data.md")
        (chain, signing) = (other[2].text, other[3].text)
        let made = try walk.shell(chain)
        #expect(made.status == 0, "\(made.standardError)")
    }

    private var post: String {
        """
        post() {
          curl -sS http://127.0.0.1:\(walk.port)/v1/app-store-notifications -H 'Content-Type: application/json' \
            -d @notification.json
        }
        """
    }

    @Test("every code block on the page has a test")
    func everyBlockIsKnown() {
        // The last two are about the App Store Server API.
        #expect(
            walk.blocks.map(\.language) == [
                "text", "yaml", "sh", "sh", "sh", "json", "yaml", "yaml", "sh", "sh", "sh",
            ])
    }

    @Test("a TEST notification that is signed as the page says is stored once, and shows up where the page says")
    func walkthrough() throws {
        try walk.folder.write(walk.block(1).utf8, to: "offers.yaml")
        let health = "http://127.0.0.1:\(walk.port)/health/ready"
        let outcome = try walk.run(
            start: walk.block(3), signing, walk.block(4), "echo", post, "post; echo",
            "until curl -sS \(health) | grep -q lastReceivedAt; do sleep 0.1; done", "curl -sS \(health); echo",
            "curl -sS http://127.0.0.1:\(walk.port)/metrics | grep TEST", "kill $service; wait $service", "cat log")
        #expect(outcome.status == 0, "\(outcome.standardError)")
        let lines = outcome.standardOutput.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        try #require(lines.count > 4, "\(outcome.standardOutput)")
        let stored = walk.block(5).trimmingCharacters(in: .newlines)
        #expect(lines[0] == stored)
        #expect(lines[1] == stored.replacing("stored", with: "known"))
        #expect(lines[2].contains(#""store":"ok","notifications":"ok""#))
        #expect(
            lines[2].contains(
                #""notifications":[{"bundleID":"com.example.app","environment":"Sandbox","received":1,"lastReceivedAt":"#
            ))
        #expect(
            lines[3]
                == #"offer_signer_notification_types_total{app="com.example.app",environment="Sandbox",type="TEST"} 1"#)
        let logged = lines.first { $0.contains("notification stored") } ?? ""
        for part in [
            " notice ", #"type="TEST""#, #"app="com.example.app""#, #"environment="Sandbox""#,
            #"notificationUUID="3838df56"#,
        ] {
            #expect(logged.contains(part), "\(logged)")
        }
        #expect(FileManager.default.fileExists(atPath: walk.folder.path + "/subscribers.sqlite"))
    }

    @Test("with Apple's roots, the same notification is refused, and the configuration for forwarding is accepted")
    func forged() throws {
        try walk.folder.write(walk.block(7).utf8, to: "offers.yaml")
        let sign = walk.block(4).split(separator: "\n").filter { !$0.hasPrefix("curl ") }.joined(separator: "\n")
        let outcome = try walk.run(
            start: "export SUBSCRIPTION_OFFERS_KEY_ID=2X9R4HXF34; \(walk.block(2))", signing, sign, post, "post; echo",
            "kill $service; wait $service")
        #expect(outcome.status == 0, "\(outcome.standardError)")
        #expect(outcome.standardOutput.contains(#""code":"notification_refused""#), "\(outcome.standardOutput)")
        #expect(outcome.standardOutput.contains(#""reason":"root_not_trusted""#))
    }

    @Test("with the page's configuration, version 1 counts with the shared secret, which the database then contains")
    func version1() throws {
        let secret = "0123456789abcdef0123456789abcdef"
        try walk.folder.write(walk.block(6).utf8, to: "offers.yaml")
        try walk.folder.write(secret.utf8, to: "app-store-secret")
        func body(password: String, type: String = "DID_RENEW") -> String {
            #"{"notification_type":"\#(type)","password":"\#(password)","environment":"PROD","bid":"com.example.app"}"#
        }
        let bodies = [
            body(password: secret), body(password: secret), body(password: secret, type: "REFUND"),
            body(password: "another"),
        ]
        let posts = bodies.map { "printf %s '\($0)' >notification.json; post; echo" }
        let outcome = try walk.run(
            start: "export SUBSCRIPTION_OFFERS_KEY_ID=2X9R4HXF34; \(walk.block(2))", post,
            posts.joined(separator: "\n"), "kill $service; wait $service", "grep -c -a \(secret) subscribers.sqlite",
            "cat log")
        #expect(outcome.status == 0, "\(outcome.standardError)")
        let lines = outcome.standardOutput.split(separator: "\n").map(String.init)
        try #require(lines.count > 5, "\(outcome.standardOutput)")
        #expect(lines[0].wholeMatch(of: /\{"notificationUUID":"v1-[0-9a-f]{32}","outcome":"stored"\}/) != nil)
        #expect(lines[1] == lines[0].replacing("stored", with: "known"))
        #expect(lines[2].contains(#""outcome":"stored""#) && lines[2].prefix(60) != lines[0].prefix(60))
        #expect(lines[3].contains(#""status":403"#) && lines[3].contains(#""code":"shared_secret_refused""#))
        #expect(lines[4] != "0")
        #expect(!lines[5...].contains { $0.contains(secret) })
    }

    @Test(
        "the page's script accepts the signature that the service sends, and nothing that was changed or is old",
        arguments: [("as sent", "good"), ("another body", "bad"), ("another key", "bad"), ("old", "bad")])
    func signature(change: String, result: String) throws {
        let key = "0123456789abcdef0123456789abcdef"
        let body = #"{"signedPayload":"a.b.c"}"#
        let age: TimeInterval = change == "old" ? 301 : 0
        let time = Timestamp(milliseconds: Int64((Date.now.timeIntervalSince1970 - age) * 1000))
        let value = try ForwardSignature(Secret(key)).value(for: Array(body.utf8), at: time)
        try walk.folder.write((change == "another body" ? body + " " : body).utf8, to: "body.json")
        let outcome = try walk.shell(
            """
            signature='\(value)'
            key='\(change == "another key" ? "another" : key)'
            \(walk.block(8))
            """)
        #expect(outcome.status == 0, "\(outcome.standardError)")
        #expect(outcome.standardOutput == result + "\n")
    }
}
