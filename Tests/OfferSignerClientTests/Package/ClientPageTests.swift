import Foundation
import Testing

/// Follows docs/client.md.
@Suite struct ClientPageTests {
    static func page() throws -> String {
        try String(contentsOf: Locations.repository.appendingPathComponent("docs/client.md"), encoding: .utf8)
    }

    /// The language and the text of each code block.
    private func blocks() throws -> [(language: String, text: String)] {
        try Self.page().components(separatedBy: "```").enumerated().filter { $0.offset % 2 == 1 }.map { _, block in
            let end = block.firstIndex(of: "\n") ?? block.endIndex
            return (String(block[..<end]), String(block[end...]))
        }
    }

    private func swift(containing text: String) throws -> String {
        try #require(try blocks().first { $0.language == "swift" && $0.text.contains(text) }, "\(text)").text
    }

    @Test(
        "every code block is run by these tests or by WebPageTests, or is an example for a framework, which none runs")
    func everyBlockIsKnown() throws {
        #expect(
            try blocks().map(\.language) == [
                "sh", "swift", "swift", "sh", "swift", "swift", "swift", "swift", "swift", "ts", "ts", "ts", "dart",
                "ts",
            ])
    }

    @Test("the page explains every error code of the client")
    func errorCodes() throws {
        let source = try String(
            contentsOf: Locations.repository.appendingPathComponent("Sources/OfferSignerClient/Core/OfferError.swift"),
            encoding: .utf8)
        let ofClient = try #require(source.components(separatedBy: "// MARK: Codes of the service").first)
        let codes = ofClient.matches(of: /Self\(rawValue: "([a-z_]+)"\)/).map { String($0.output.1) }
        #expect(codes.count >= 14)
        let rows = try Self.page().components(separatedBy: "\n").filter { $0.hasPrefix("| `") }
        for code in codes {
            #expect(rows.contains { $0.components(separatedBy: " | ")[0].contains("`\(code)`") }, "\(code)")
        }
    }

    @Test("a newcomer gets a signature, from the package as it is on a Mac")
    func firstOffer() throws {
        let folder = try TemporaryFolder()
        for name in ["offer-signer/Sources", "FirstOffer/Sources/FirstOffer"] {
            try FileManager.default.createDirectory(atPath: folder.path(name), withIntermediateDirectories: true)
        }
        try folder.write(ManifestTests.manifest(onLinux: false), to: "offer-signer/Package.swift")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("offer-signer/Sources/OfferSignerClient"),
            withDestinationPath: Locations.repository.appendingPathComponent("Sources/OfferSignerClient").path)
        let service = try RunningService()
        let (manifest, program) = (try swift(containing: "PackageDescription"), try swift(containing: "@main"))
        // The tools version is the first line.
        try folder.write(
            manifest.trimmingCharacters(in: .newlines)
                .replacingOccurrences(of: "/path/to/offer-signer", with: folder.path("offer-signer")),
            to: "FirstOffer/Package.swift")
        try folder.write(
            program.replacingOccurrences(of: "127.0.0.1:8080", with: "127.0.0.1:\(service.port)"),
            to: "FirstOffer/Sources/FirstOffer/FirstOffer.swift")
        let output = try Program.run(["swift", "run", "--package-path", folder.path("FirstOffer")])
        #expect(
            try #/DEVELOPKEY [0-9a-f-]{36} ME[A-Za-z0-9+/=]+\n/#.wholeMatch(in: String(decoding: output, as: UTF8.self))
                != nil)
    }

    @Test("the snippets for an app compile")
    func snippets() throws {
        let folder = try TemporaryFolder()
        let beginning = """
            import Foundation
            struct Session: Sendable { var idToken: String? { get async { nil } } }
            let (session, accountToken) = (Session(), UUID())
            guard let server = URL(string: "http://127.0.0.1:8080") else { exit(1) }
            func explainWhoseLink() {}
            let url = URL(string: "https://go.example.com/o/spring")
            let product = Product(id: "com.example.app.pro.monthly", subscriptionGroupID: "21012345")
            func alertSupport() {}
            func open(_ url: URL) {}
            var showsSubscriptions = false
            func show(product: String?) {}
            func show(message: String?, _ text: String?) {}
            func unlock(_ transaction: Transaction) async {}
            """
        let snippets = try [
            "client.signIn(.appAccountToken(accountToken))", ".gathered()", "client.purchase(", "list.link",
            "answer.alternative",
        ]
        .map(swift(containing:))
        try folder.write(
            (["import OfferSignerClient", beginning] + snippets).joined(separator: "\n"), to: "main.swift")
        try Program.run([
            "swiftc", "-typecheck", "-swift-version", "6", "-I",
            Locations.products.appendingPathComponent("Modules").path,
            folder.path("main.swift"),
        ])
    }
}
