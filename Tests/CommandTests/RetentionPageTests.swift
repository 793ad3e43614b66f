import AppStoreStandIn
import AppStoreTestSupport
import Foundation
import OfferConfiguration
import OfferCore
import OfferEligibility
import TestSupport
import Testing

/// Follows docs/retention.md against a stand-in for the App Store.
@Suite("docs/retention.md", .serialized, .timeLimit(.minutes(5)))
struct RetentionPageTests {
    @Test("every code block on the page has a test")
    func everyBlockIsKnown() throws {
        #expect(
            try MarkdownBlock.all(in: "docs/retention.md").map(\.language) == ["text", "yaml", "sh", "sh", "sh"])
    }

    @Test("messages are uploaded, the URL is set, the performance test passes, and production follows")
    func walkthrough() async throws {
        let walk = try await PageWalk("docs/retention.md")
        let process = try await AppStoreProcess(performanceTest: Self.quickTest)
        try process.folder.write(walk.block(1).utf8, to: "offers.yaml")
        let service = try process.start()
        let url = "http://127.0.0.1:\(service.port)/v1/retention-messages"
        let uploaded = try await shell(walk, process.exports + walk.block(2))
        #expect(uploaded.status == 0, "\(uploaded.standardError)")
        let id = "1f0c6a4e-0b1d-4d55-9d56-3f6e1c1f7a10"
        #expect(uploaded.standardOutput == "\(id)\n\(id.uppercased()) APPROVED\n")
        let set = try await shell(walk, process.exports + walk.block(3))
        #expect(set.status == 0, "\(set.standardError)")
        #expect(set.standardOutput == "https://offers.example.com/v1/retention-messages\n")
        // Our own URL has no certificate that the App Store trusts, so the stand-in is told to use it directly.
        process.standIn.retention[1].replaceURL(url)
        let original = try #require(process.standIn.sandbox.subscriptions.joined().first)
        let lines = walk.block(4).replacing("2000000123456789", with: original).split(separator: "\n").map(String.init)
        try #require(lines.count == 3)
        let tested = try await shell(
            walk, process.exports + lines[0] + "\nuntil \(lines[1]); do sleep 0.2; done\n" + lines[2])
        #expect(tested.status == 0, "\(tested.standardError)")
        #expect(
            tested.standardOutput.split(separator: "\n").last?.contains(#""result":"PASS""#) == true,
            "\(tested.standardOutput)")
        #expect(try await service.get("/metrics").text.contains("offer_signer_retention_answers_total{"))
        #expect(service.stop() == 0)
        await process.standIn.stop()
    }

    @Test("what Apple would refuse is refused before it is sent, and what it refuses is explained")
    func refusals() async throws {
        let process = try await AppStoreProcess()
        let walk = try await PageWalk("docs/retention.md")
        try process.folder.write(walk.block(1).utf8, to: "offers.yaml")
        for (arguments, error) in [
            (
                ["messages", "upload", "--header", String(repeating: "x", count: 67), "--body", "b"],
                "header must not be longer than 66 characters."
            ),
            (["url", "set", "http://a.example/"], "The URL must begin with https://"),
            (["url", "set", "https://a.example/"], "4030026"),
            (["url", "show"], "4040021"),
            (["defaults", "show", "--product-id", "p", "--locale", "en"], "4040020"),
            (["performance-test", "result", "x", "--environment", "Sandbox"], "4040018"),
        ] {
            let outcome = try await run(process, ["retention"] + arguments)
            #expect(outcome.status == 1 && outcome.standardError.contains(error), "\(outcome.standardError)")
        }
        await process.standIn.stop()
    }

    @Test("doctor --online names what the App Store would not show")
    func doctor() async throws {
        let process = try await AppStoreProcess()
        let walk = try await PageWalk("docs/retention.md")
        try process.folder.write(walk.block(1).utf8, to: "offers.yaml")
        let outcome = try await run(process, ["doctor", "--online"])
        for text in [
            "note: com.example.app Sandbox: the message 0d2e6a4e-0b1d-4d55-9d56-3f6e1c1f7a10 was not uploaded here",
            "warning: com.example.app Production: no URL for retention messages is set",
            "warning: com.example.app Sandbox: com.example.app.pro.monthly has no default message for en-US: if an answer",
        ] {
            #expect(outcome.standardOutput.contains(text), "\(outcome.standardOutput)")
        }
        await process.standIn.stop()
    }

    @Test("the played test passes with an example shop, and fails visibly when the service is slowed on purpose")
    func played() async throws {
        let process = try await AppStoreProcess()
        let walk = try await PageWalk("docs/retention.md")
        try process.folder.write(walk.block(1).utf8, to: "offers.yaml")
        let service = try process.start()
        let url = "http://127.0.0.1:\(service.port)/v1/retention-messages"
        #expect(try await Self.play(process, url).outcome == "PASS")
        #expect(service.stop() == 0)
        // Between the App Store and the service, something holds each answer for a second.
        let slow = try await SlowServer.start(
            after: "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n")
        let failed = try await Self.play(process, "http://127.0.0.1:\(slow)/v1/retention-messages", requests: 5)
        #expect(failed.outcome == "FAIL" && failed.rate == 0, "\(String(decoding: failed.json, as: UTF8.self))")
        #expect(failed.failures.values.reduce(0, +) == 5)
        await process.standIn.stop()
    }

    // The stand-in answers in this process, so nothing may block its threads.

    private func shell(_ walk: PageWalk, _ script: String) async throws -> Command.Outcome {
        try await onOwnThread { try walk.shell(script) }
    }

    private func run(_ process: AppStoreProcess, _ arguments: [String]) async throws -> Command.Outcome {
        try await onOwnThread { try process.run(arguments) }
    }

    /// Small enough for a busy machine, with a threshold that only something slowed on purpose exceeds.
    private static var quickTest: PerformanceTest.Settings {
        var settings = PerformanceTest.Settings()
        (settings.requests, settings.concurrency, settings.duration, settings.threshold) = (40, 5, 400, 5000)
        return settings
    }

    private static func play(
        _ process: AppStoreProcess, _ url: String, requests: Int = 40
    ) async throws -> PerformanceTest.Result {
        var settings = quickTest
        settings.requests = requests
        let subscriptions = process.standIn.production.subscriptions.joined().map { id in
            (id: id, product: process.standIn.production.product(of: id) ?? "")
        }
        let test = PerformanceTest(
            settings, world: process.standIn.production, target: url, subscriptions: subscriptions,
            now: { Int64(Date().timeIntervalSince1970 * 1000) })
        return await test.run()
    }
}
