import Foundation
import OfferConfiguration
import OfferService
import OfferTelemetry
import TestSupport
import Testing

/// Checks the links on all pages and the names that the pages quote.
@Suite("Documentation")
struct DocumentationTests {
    private static let repository = MarkdownBlock.repository

    @Test("every link leads to an existing file and heading")
    func links() throws {
        let pages = try Dictionary(uniqueKeysWithValues: MarkdownPage.all().map { ($0.path, $0) })
        #expect(pages.count > 15)
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

    @Test("docs/README.md lists every page once, and README.md links to docs/README.md")
    func index() throws {
        let index = try MarkdownPage("docs/README.md").links.map { link in
            String(URL(filePath: "/docs/" + link).standardizedFileURL.path.dropFirst())
        }
        #expect(
            try (index + ["docs/README.md"]).sorted()
                == MarkdownPage.all().map(\.path).filter { !$0.hasPrefix("Sources/") })
        #expect(try MarkdownPage("README.md").links.contains("docs/README.md"))
    }

    @Test("every variable, metric, alert and problem code that a page quotes exists")
    func names() throws {
        let alerts = try String(
            contentsOf: Self.repository.appending(path: "packaging/prometheus/alerts.yml"), encoding: .utf8)
        let variables = Set(Settings.all.map(\.variable))
        let metrics = Set(Metric.all.map(\.name))
        let codes = Set(Problem.Code.allCases.map(\.rawValue))
        for page in try MarkdownPage.all() {
            for span in page.codeSpans {
                if let name = span.wholeMatch(of: /(SUBSCRIPTION_OFFERS_\w+)(=.*)?/)?.output.1 {
                    #expect(variables.contains(String(name)), "\(page.path): \(span)")
                } else if span.wholeMatch(of: /(offer_signer|process)_\w+/) != nil {
                    #expect(metrics.contains(span), "\(page.path): \(span)")
                } else if span.wholeMatch(of: /OfferSigner\w+/) != nil, span != "OfferSignerClient" {
                    #expect(alerts.contains("alert: \(span)\n"), "\(page.path): \(span)")
                }
            }
            for code in page.prose.matches(of: /\b[45][0-9][0-9] with `(\w+)`/).map(\.output.1) {
                #expect(codes.contains(String(code)), "\(page.path): \(code)")
            }
        }
    }

    @Test("docs/incidents.md quotes log lines and command output exactly, except for variable parts")
    func messages() throws {
        let sources = Self.repository.appending(path: "Sources")
        let paths = try FileManager.default.subpathsOfDirectory(atPath: sources.path).filter { $0.hasSuffix(".swift") }
        // Joins the lines of multiline string literals, as printed.
        let code = try paths.map { try String(contentsOf: sources.appending(path: $0), encoding: .utf8) }
            .joined().replacing(/\\\n */, with: "")
        let page = try MarkdownPage("docs/incidents.md")
        let blocks = try MarkdownBlock.all(in: page.path).filter { $0.language == "text" }
            .map { $0.text.trimmingCharacters(in: .newlines) }
        // Skips commands, JSON, and text in parentheses, which comes from the system.
        let spans = page.codeSpans.filter { span in
            span.contains(" ")
                && !["(", "offer-signer ", "chronyc ", "fuser ", "systemctl ", "{"].contains { span.hasPrefix($0) }
        }
        #expect(blocks.count > 3 && spans.count > 15)
        for message in blocks + spans {
            let parts = message.replacing(/[ ]\([A-Z][a-z ]+\)$/, with: "").components(separatedBy: "…")
            for part in parts.map({ $0.trimmingCharacters(in: .whitespaces) }) where !part.isEmpty {
                #expect(code.contains(part), "\(message)")
            }
        }
    }

    @Test("docs/incidents.md covers every alert")
    func alerts() throws {
        let alerts = try String(
            contentsOf: Self.repository.appending(path: "packaging/prometheus/alerts.yml"), encoding: .utf8)
        let names = Set(alerts.matches(of: /alert: (\w+)/).map { String($0.output.1) })
        #expect(try names.subtracting(MarkdownPage("docs/incidents.md").codeSpans) == [])
    }

    @Test("the command in docs/incidents.md finds a nonce in a trail, even one typed in upper case")
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

    // MARK: Pages about the code

    /// The paths of all files and folders that a page about the code can name.
    private static func tree() throws -> [String] {
        try ["Sources", "Tests", "Examples", "scripts", "packaging", "docs"].flatMap { folder in
            try FileManager.default.subpathsOfDirectory(atPath: repository.appending(path: folder).path).map {
                "\(folder)/\($0)"
            }
        } + ["Package.swift"]
    }

    /// The names of all types and members that the code declares.
    private static func declarations(in tree: [String]) throws -> Set<String> {
        try tree.filter { $0.hasSuffix(".swift") }.reduce(into: []) { names, path in
            let code = try String(contentsOf: repository.appending(path: path), encoding: .utf8)
            let declared = code.matches(
                of: /\b(?:class|struct|enum|actor|protocol|typealias|extension|func|var|let|case) (\w+)/)
            names.formUnion(declared.map { String($0.output.1) })
        }
    }

    @Test("every file, type and member named by a page about the code exists")
    func symbols() throws {
        let tree = try Self.tree()
        let modules = Set(tree.filter { $0.hasPrefix("Sources/") }.map { String($0.split(separator: "/")[1]) })
        let names = try Self.declarations(in: tree).union(modules)
        var count = 0
        for path in [
            "docs/architecture.md", "docs/threat-model.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md",
        ] {
            for span in try MarkdownPage(path).codeSpans {
                if span.wholeMatch(of: /[\w+\/-]+\.(swift|c|json)/) != nil
                    || span.wholeMatch(of: /(Sources|Tests|Examples|scripts|packaging|docs)\/[\w+\/.-]+/) != nil
                {
                    let isThere = tree.contains { $0 == span || $0.hasSuffix("/" + span) }
                    #expect(isThere, "\(path): \(span)")
                    count += 1
                } else if span.wholeMatch(of: /[A-Z]\w*[a-z]\w*(\.\w+)?/) != nil {
                    let areDeclared = span.split(separator: ".").allSatisfy { names.contains(String($0)) }
                    #expect(areDeclared, "\(path): \(span)")
                    count += 1
                }
            }
        }
        #expect(count > 150)
    }

    @Test("every link between doc comments leads to a declaration")
    func docLinks() throws {
        let sources = Self.repository.appending(path: "Sources")
        let paths = try FileManager.default.subpathsOfDirectory(atPath: sources.path).filter { $0.hasSuffix(".swift") }
        let texts = try paths.map { try String(contentsOf: sources.appending(path: $0), encoding: .utf8) }
        var declared: Set<String> = ["init"]
        for text in texts {
            let names = text.matches(
                of: /\b(?:struct|class|enum|actor|protocol|typealias|associatedtype|func|var|let) +`?(\w+)/)
            declared.formUnion(names.map { String($0.output.1) })
            for cases in text.matches(of: /\bcase ([^\n:]*)/) {
                declared.formUnion(cases.output.1.matches(of: /\w+/).map { String($0.output) })
            }
        }
        var count = 0
        for (path, text) in zip(paths, texts) {
            for link in text.matches(of: /``([^`\n]+)``/) {
                let names = link.output.1.split(separator: "/").map { String($0.prefix { $0 != "(" }) }
                #expect(names.allSatisfy(declared.contains), "\(path): \(link.output.1)")
                count += 1
            }
        }
        #expect(count > 200)
    }

    @Test("docs/architecture.md lists each module, and its README has the imports of Package.swift and where to start")
    func modules() throws {
        let manifest = try String(contentsOf: Self.repository.appending(path: "Package.swift"), encoding: .utf8)
        let targets = manifest.matches(of: /\.(?:target|executableTarget)\(\s*name: "([\w-]+)"/)
        let own = Set(targets.map { String($0.output.1) })
        func names(_ text: some StringProtocol) -> [String] {
            String(text).matches(of: /["`]([\w-]+)["`]/).map { String($0.output.1) }.filter(own.contains)
        }
        let declared = targets.reduce(into: [String: [String]]()) { declared, target in
            // The dependency list, or the text up to the next target if there is no list.
            let list = manifest[target.range.upperBound...].prefix { $0 != "]" }.split(separator: ".target(")[0]
            // Package products are not modules of this repository.
            declared[String(target.output.1)] = names(list.replacing(/\.product\([^)]*\)/, with: ""))
        }
        let rows = try MarkdownPage("docs/architecture.md").rows.filter { $0.count == 2 }
        let first = try #require(rows.firstIndex { $0[0] == "module" }) + 2
        let documented = rows[first...].prefix { $0[0].hasPrefix("`") && !$0[0].contains(".") }
        let modules = own.subtracting([
            "TestSupport", "AppStoreTestSupport", "AppStoreStandIn", "app-store-stand-in", "StoreTestSupport",
            "HistoryTestSupport", "SignInTestSupport", "ConsoleSamples", "store-load", "notification-load",
            "FuzzTargets", "offer-fuzz", "event-process",
            "StoreKit", "SwiftUI", "Paywall",
        ])
        #expect(Set(documented.flatMap { names($0[0]) }) == modules)
        for module in modules.subtracting(["COpenAPI", "CConsole", "CProcess", "CPKCS11", "CPostgreSQL"]) {
            let folder = Self.repository.appending(path: "Sources/\(module)")
            let readme = try String(contentsOf: folder.appending(path: "README.md"), encoding: .utf8)
            let imports = try #require(readme.components(separatedBy: "It may import: ").dropFirst().first)
            #expect(names(imports) == declared[module], "\(module)")
            let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            let code = try files.filter { $0.hasSuffix(".swift") }
                .map { try String(contentsOf: folder.appending(path: $0), encoding: .utf8) }.joined()
            let beginning = readme.components(separatedBy: "It may import: ")[0]
            let types = beginning.matches(of: /`(\w+)`/).map { $0.output.1 }
            #expect(types.count >= 1, "\(module)")
            for type in types {
                let isDeclared = try code.contains(Regex("(struct|class|enum|actor|protocol) \(type)\\b"))
                #expect(isDeclared, "\(module): \(type)")
            }
        }
    }
}
