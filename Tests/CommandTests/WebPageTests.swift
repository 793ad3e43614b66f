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
}
