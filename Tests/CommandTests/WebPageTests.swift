import Foundation
import TestSupport
import Testing

/// Web pages of listed origins, in a real browser.
@Suite("Web pages", .timeLimit(.minutes(5)))
struct WebPageTests {
    @Test("a page of a listed origin gets an offer in Chromium, and a page of another one gets nothing")
    func browser() throws {
        // A port that nothing uses now, for the page.
        let other = try RunningService()
        let port = other.port
        #expect(other.stop() == 0)
        let service = try RunningService(arguments: ["--web-origins", "http://127.0.0.1:\(port)"])
        let script = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../scripts/console-browser").standardizedFileURL.path
        let outcome = try Command.run(
            script, ["--web-page", "--service", "http://127.0.0.1:\(service.port)", "--port", String(port)])
        #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
        #expect(outcome.standardOutput.contains("5 checks, 0 faults"))
        #expect(service.stop() == 0)
    }

    @Test("the pages of campaign links have no fault on a phone, and Apple's rules hold for the association file")
    func links() async throws {
        let (port, folder) = (try await FreePort.find(), try TemporaryFolder())
        let hostile = #"{name: hostile, title: "<script>alert(1)</script> \"quoted\" שלום", language: he, text: "#
        try folder.write(
            """
            apps:
              - bundleID: com.example.app
                appAppleID: 1234567890
                links:
                  teamID: ABCDE12345
                  name: Example
                  campaigns:
                    - {name: spring, title: A month on us, text: "Come back to Example, and pay nothing for a month."}
                    - {name: plain}
                    - \(hostile)\(String(repeating: "long", count: 80))}
                    - {name: over, until: 2020-01-01}
                products:
                  - {productID: pro, offers: [{offerID: half, rule: {link: spring}}]}
            """.utf8, to: "offers.yaml")
        let service = try RunningService(
            arguments: [
                "--config", folder.path + "/offers.yaml", "--database", "sqlite:\(folder.path)/subscribers.sqlite",
                "--links-address", "127.0.0.1:\(port)",
            ])
        let script = MarkdownBlock.repository.appending(path: "scripts/console-browser").path
        let outcome = try Command.run(
            script,
            ["--link-pages", "--links", "http://127.0.0.1:\(port)", "--app-id", "ABCDE12345.com.example.app"]
                + ["spring", "plain?utm_source=mail", "hostile", "over", "nothing"].flatMap { ["--page", "/o/\($0)"] })
        #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
        #expect(outcome.standardOutput.contains(" checks, 0 faults"))
        #expect(service.stop() == 0)
    }
}
