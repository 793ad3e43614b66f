import Foundation
import OfferServer
import TestSupport
import Testing

/// The pages as a whole: their links, and the names that they quote.
@Suite("Documentation")
struct DocumentationTests {
    private static let repository = MarkdownBlock.repository

    @Test("every link leads to a file of the tree, and to a heading that it has")
    func links() throws {
        let pages = try Dictionary(uniqueKeysWithValues: MarkdownPage.all().map { ($0.path, $0) })
        #expect(pages.count > 8)
        for page in pages.values {
            for link in page.links where !link.contains("://") {
                let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
                let folder = URL(filePath: "/" + page.path).deletingLastPathComponent()
                let target =
                    parts[0].isEmpty
                    ? page.path : String(folder.appending(path: parts[0]).standardizedFileURL.path.dropFirst())
                let file = Self.repository.appending(path: target).path
                #expect(FileManager.default.fileExists(atPath: file), "\(page.path): \(link)")
                if parts.count == 2 {
                    #expect(pages[target]?.anchors.contains(parts[1]) == true, "\(page.path): \(link)")
                }
            }
        }
    }

    @Test("docs/README.md names every page, once, and README.md leads to it")
    func index() throws {
        let index = try MarkdownPage("docs/README.md").links.map { link in
            String(URL(filePath: "/docs/" + link).standardizedFileURL.path.dropFirst())
        }
        #expect(try (index + ["docs/README.md"]).sorted() == MarkdownPage.all().map(\.path))
        #expect(try MarkdownPage("README.md").links.contains("docs/README.md"))
    }

    @Test("every variable, metric, alert, flag and code of a problem that a page quotes is there")
    func names() throws {
        let alerts = try String(
            contentsOf: Self.repository.appending(path: "packaging/prometheus/alerts.yml"), encoding: .utf8)
        let variables = Set(Variable.allCases.map(\.rawValue))
        let metrics = Set(Metric.all.map(\.name))
        let codes = Set(Problem.Code.allCases.map(\.rawValue))
        for page in try MarkdownPage.all() {
            for span in page.codeSpans {
                if let name = span.wholeMatch(of: /(SUBSCRIPTION_OFFERS_\w+)(=.*)?/)?.output.1 {
                    #expect(variables.contains(String(name)), "\(page.path): \(span)")
                } else if span.wholeMatch(of: /(offer_signer|process)_\w+/) != nil {
                    #expect(metrics.contains(span), "\(page.path): \(span)")
                } else if span.wholeMatch(of: /OfferSigner\w+/) != nil {
                    #expect(alerts.contains("alert: \(span)\n"), "\(page.path): \(span)")
                }
            }
            for code in page.prose.matches(of: /\b[45][0-9][0-9] with `(\w+)`/).map(\.output.1) {
                #expect(codes.contains(String(code)), "\(page.path): \(code)")
            }
        }
    }

    @Test("what docs/incidents.md quotes of the log and of the commands stands in the code, up to what differs")
    func messages() throws {
        let sources = Self.repository.appending(path: "Sources")
        let paths = try FileManager.default.subpathsOfDirectory(atPath: sources.path).filter { $0.hasSuffix(".swift") }
        // Texts of several lines as they come out.
        let code = try paths.map { try String(contentsOf: sources.appending(path: $0), encoding: .utf8) }
            .joined().replacing(/\\\n */, with: "")
        let page = try MarkdownPage("docs/incidents.md")
        let blocks = try MarkdownBlock.all(in: page.path).filter { $0.language == "text" }
            .map { $0.text.trimmingCharacters(in: .newlines) }
        // What begins with a bracket is the system's.
        let spans = page.codeSpans.filter { span in
            span.contains(" ")
                && !["(", "offer-signer ", "chronyc ", "systemctl ", "{"].contains { span.hasPrefix($0) }
        }
        #expect(blocks.count > 3 && spans.count > 15)
        for message in blocks + spans {
            let parts = message.replacing(/[ ]\([A-Z][a-z ]+\)$/, with: "").components(separatedBy: "…")
            for part in parts.map({ $0.trimmingCharacters(in: .whitespaces) }) where !part.isEmpty {
                #expect(code.contains(part), "\(message)")
            }
        }
    }

    @Test("every alert is on the page of incidents")
    func alerts() throws {
        let alerts = try String(
            contentsOf: Self.repository.appending(path: "packaging/prometheus/alerts.yml"), encoding: .utf8)
        let names = Set(alerts.matches(of: /alert: (\w+)/).map { String($0.output.1) })
        #expect(try names.subtracting(MarkdownPage("docs/incidents.md").codeSpans) == [])
    }

    @Test("the line of the page finds a nonce in a trail, in capitals as well")
    func nonce() throws {
        let folder = try TemporaryFolder()
        let nonce = "7f8a1c7e-3f2b-4f0d-9b1a-0c5d6e7f8a9b"
        try folder.write("{\"line\":3,\"nonce\":\"\(nonce)\"}\n{\"line\":4,\"nonce\":\"\"}\n".utf8, to: "audit.jsonl.1")
        let command = try #require(MarkdownBlock.all(in: "docs/incidents.md").first { $0.language == "sh" }).text
        for text in [command, command.replacing(nonce, with: nonce.uppercased())] {
            let outcome = try Command.run("bash", ["-c", text], directory: folder.url)
            #expect(outcome.standardOutput == "{\"line\":3,\"nonce\":\"\(nonce)\"}\n")
        }
    }
}
