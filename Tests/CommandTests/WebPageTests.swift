import Foundation
import TestSupport
import Testing

@testable import AppStoreTestSupport

/// Web pages of listed origins, in a real browser.
@Suite("Web pages", .timeLimit(.minutes(5)))
struct WebPageTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static let repository = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../..").standardizedFileURL

    /// Compiles the TypeScript of docs/client.md as its readers would: the class, and the lines that use it.
    /// - Returns: the path of the script.
    private func script() throws -> String {
        let page = try String(contentsOf: Self.repository.appending(path: "docs/client.md"), encoding: .utf8)
        let blocks = page.components(separatedBy: "```ts\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
        let offers = try #require(blocks.first { $0.contains("class Offers {") })
        let lines = try #require(blocks.first { $0.contains("new Offers(") })
        let use = """
            async function use(appAccountToken: string, signedTransactions: string[], session: { idToken(): Promise<string> }) {
            \(lines)}

            """
        try folder.write((offers + use).utf8, to: "offers.ts")
        let outcome = try Command.run(
            "/usr/bin/tsc", ["--strict", "--target", "es2020", "--lib", "es2020,dom", folder.path + "/offers.ts"])
        #expect(outcome.status == 0, "\(outcome.standardOutput)")
        return folder.path + "/offers.js"
    }

    @Test(
        "a page of a listed origin lists, signs and reports offers in Chromium, and one of another origin gets nothing")
    func browser() throws {
        // A port that nothing uses now, for the page.
        let other = try RunningService()
        let port = other.port
        #expect(other.stop() == 0)
        try folder.write(
            """
            apps:
              - bundleID: com.example.app
                appAppleID: 1234567890
                environments: [Production]
                products:
                  - productID: com.example.app.pro.monthly
                    subscriptionGroupID: "21012345"
                    offers: [plain, {offerID: once, rule: {placement: cancel}, limits: {perCustomer: 1}}]

            """.utf8, to: "offers.yaml")
        let chain = try TestChain.standard.get()
        try folder.write(chain.root, to: "root.cer")
        let service = try RunningService(
            arguments: [
                "--web-origins", "http://127.0.0.1:\(port)", "--config", folder.path + "/offers.yaml", "--database",
                "sqlite:\(folder.path)/store.sqlite",
            ], environment: ["SUBSCRIPTION_OFFERS_APP_STORE_ROOTS": folder.path + "/root.cer"])
        let outcome = try Command.run(
            Self.repository.appending(path: "scripts/console-browser").path,
            [
                "--web-page", "--service", "http://127.0.0.1:\(service.port)", "--port", String(port), "--script",
                try script(), "--transaction", try chain.jws(SamplePayload.transaction),
            ])
        #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
        #expect(outcome.standardOutput.contains("14 checks, 0 faults"), "\(outcome.standardOutput)")
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
