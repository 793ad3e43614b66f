import Foundation
import OfferConfiguration
import OfferCore
import OfferCrypto
import OfferService
import TestSupport
import Testing

/// Checks that docs/configuration.md lists every setting and nothing else.
@Suite("docs/configuration.md", .serialized, .timeLimit(.minutes(5)))
struct ConfigurationPageTests {
    private let page: MarkdownPage

    init() throws { page = try MarkdownPage("docs/configuration.md") }

    private static func block(_ text: String) throws -> String {
        try #require(MarkdownBlock.all(in: "docs/configuration.md").first { $0.text.hasPrefix(text) }).text
    }

    // MARK: Variables and flags

    /// A row in a settings table.
    private struct Setting {
        let variable: String?
        let flag: String?
        let taken: String
    }

    private var settings: [Setting] {
        page.rows.filter { $0.count == 5 && ($0[0].hasPrefix("`SUBSCRIPTION") || $0[1].hasPrefix("`--")) }.map { row in
            func name(_ cell: String) -> String? { cell.isEmpty ? nil : cell.replacing("`", with: "") }
            return Setting(variable: name(row[0]), flag: name(row[1]), taken: row[4])
        }
    }

    @Test("the page has the settings as they are declared, and serve has exactly their flags")
    func everySetting() throws {
        let text = try String(
            contentsOf: MarkdownBlock.repository.appending(path: "docs/configuration.md"), encoding: .utf8)
        let section = text.components(separatedBy: "<!-- The settings")[1].split(separator: "\n", maxSplits: 1)[1]
        let written = section.components(separatedBy: "<!-- End of the settings")[0].trimmingCharacters(in: .newlines)
        let declared = Settings.groups.map(\.markdown).joined(separator: "\n")
        #expect(written + "\n" == declared, "run scripts/reference")
        #expect(settings.map(\.variable) == Settings.all.map(\.variable))
        let help = try Command.runOfferSigner(["serve", "--help"]).standardOutput
        let flags = help.matches(of: /\n  --([a-z-]+)/).map { String($0.output.1) }
        #expect(Set(flags) == Set(Settings.all.compactMap(\.flag)).union(["development", "version"]))
    }

    /// For each variable, a value that differs from the one at startup. The port, key folder and environment file are set
    /// by flags here, and TLS files have separate tests.
    private static let otherValues: [String: String] = [
        Settings.keyID.variable: "ANOTHERKEY", Settings.bundleKeyIDs.variable: "com.example.app=ANOTHERKEY",
        Settings.retiredKeyIDs.variable: "ANOTHERKEY",
        Settings.privateKey.variable: "PEM", Settings.issuerID.variable: Fixtures.issuerText,
        Settings.allowReadableKeys.variable: "true", Settings.tokens.variable: "other=ost_0123456789ab",
        Settings.usernameSalt.variable: "0123456789abcdef", Settings.configurationFile.variable: "OTHER",
        Settings.auditLog.variable: "OTHER",
        Settings.auditKey.variable: "fedcba9876543210",
        Settings.auditSync.variable: "true", Settings.auditRotateMB.variable: "5",
        Settings.auditChain.variable: "hmac", Settings.auditAddresses.variable: "plain",
        Settings.host.variable: "localhost",
        Settings.metricsAddress.variable: "127.0.0.1:9464",
        Settings.reusePort.variable: "true", Settings.behindProxy.variable: "true",
        Settings.trustedProxies.variable: "192.0.2.1", Settings.allowAnyone.variable: "true",
        Settings.logLevel.variable: "debug", Settings.logFormat.variable: "json",
        Settings.keyFingerprint.variable: "FINGERPRINT", Settings.bufferMiB.variable: "32",
    ]

    @Test("SIGHUP applies exactly the settings that the page says it applies, and reports the others")
    func taken() async throws {
        let folder = try TemporaryFolder()
        let configuration = """
            apps:
              - bundleID: com.example.app
                products: [{productID: p, offers: [o]}]
            """
        for name in ["one.yaml", "other.yaml"] { try folder.write(configuration.utf8, to: name) }
        let service = try RunningService(
            environment: [
                "SUBSCRIPTION_OFFERS_API_TOKENS": "one=ost_abcdefghijkl",
                "SUBSCRIPTION_OFFERS_CONFIG": folder.path + "/one.yaml",
                "SUBSCRIPTION_OFFERS_AUDIT_LOG": folder.path + "/audit.jsonl",
                "SUBSCRIPTION_OFFERS_AUDIT_KEY": "0123456789abcdef",
            ],
            prepare: { keys in
                let pem = try keys.read(RunningService.keyFile)
                try keys.write(PrivateKeyPEM.generate(), to: "SubscriptionKey_ANOTHERKEY.p8")
                try folder.write(pem, to: "pem")
            })
        let pem = try folder.text("pem").replacing("\n", with: "\\n")
        var count = 1
        for variable in Settings.all.map(\.variable) {
            guard var value = Self.otherValues[variable] else { continue }
            switch variable {
            case Settings.privateKey.variable: value = pem
            case Settings.keyFingerprint.variable: value = try SigningKey(text: folder.read("pem")).fingerprint
            case Settings.configurationFile.variable: value = folder.path + "/other.yaml"
            case Settings.auditLog.variable: value = folder.path + "/other.jsonl"
            default: break
            }
            try service.reload(
                keyID: variable == Settings.keyID.variable ? nil : RunningService.keyID, "\(variable)=\(value)")
            count += 1
            try await waitUntil { try service.log.components(separatedBy: " keys in force ").count > count }
            let text = try await service.get("/health/ready").text
            let row = try #require(settings.first { $0.variable == variable })
            #expect(["SIGHUP", "restart"].contains(row.taken))
            let isTaken = text.hasPrefix(#"{"status":"ready""#)
            #expect(isTaken == (row.taken == "SIGHUP"), "\(variable): \(text)")
        }
        #expect(try service.log.contains("restart the service to apply it"))
    }

    // MARK: The configuration file

    @Test("the page lists exactly the members of the configuration file")
    func everyMember() throws {
        let places = [
            ("", "nobody: 1"), ("apps[].", "apps: [{nobody: 1}]"),
            ("apps[].notifications.", "apps: [{notifications: {nobody: 1}}]"),
            ("apps[].products[].", "apps: [{products: [{nobody: 1}]}]"), ("callers[].", "callers: [{nobody: 1}]"),
            ("apps[].products[].offers[].", "apps: [{products: [{offers: [{nobody: 1}]}]}]"),
            ("apps[].products[].offers[].limits.", "apps: [{products: [{offers: [{limits: {nobody: 1}}]}]}]"),
            (
                "apps[].products[].offers[].limits.perCustomer.",
                "apps: [{products: [{offers: [{limits: {perCustomer: {nobody: 1}}}]}]}]"
            ), ("apps[].introductoryOffers.", "apps: [{introductoryOffers: {nobody: 1}}]"),
            ("apps[].retention[].", "apps: [{retention: [{nobody: 1}]}]"),
            ("apps[].retention[].alternateProduct.", "apps: [{retention: [{alternateProduct: {nobody: 1}}]}]"),
            ("apps[].retention[].promotionalOffer.", "apps: [{retention: [{promotionalOffer: {nobody: 1}}]}]"),
            ("apps[].grants.", "apps: [{grants: {nobody: 1}}]"),
            ("apps[].links.", "apps: [{links: {nobody: 1}}]"),
            ("apps[].links.campaigns[].", "apps: [{links: {campaigns: [{nobody: 1}]}}]"),
            ("apps[].events.", "apps: [{events: {nobody: 1}}]"),
            ("apps[].links.campaigns[].offer.", "apps: [{links: {campaigns: [{offer: {nobody: 1}}]}}]"),
            ("keys[].", "keys: [{nobody: 1}]"), ("users[].", "users: [{nobody: 1}]"),
            ("limits.", "limits: {nobody: 1}"),
            ("limits.*.", "limits: {tokens: {nobody: 1}}"),
        ]
        let known = try places.flatMap { prefix, text in
            let (_, problems) = ConfigurationFile.read(Array(text.utf8), name: "file")
            let hint = try #require(
                problems.first { $0.error.hasSuffix("has no such member") || $0.error.contains("has no member") }
            ).hint
            return hint.replacing("known names: ", with: "").components(separatedBy: ", ").map { prefix + $0 }
        }
        let rows = page.rows.filter { $0.count == 3 }.map { $0[0].replacing("`", with: "") }.filter {
            $0 != "member" && $0 != "---"
        }
        #expect(rows.sorted() == known.sorted())
    }

    @Test("the page states the default limits")
    func limits() throws {
        let (file, problems) = ConfigurationFile.read(
            Array(try Self.block("limits:").utf8), name: "page")
        #expect(problems == [])
        #expect(file.limits == Limits())
    }

    @Test("with the page's users section, a user gets offers only for themselves")
    func users() async throws {
        let key = try ProviderKey.make(for: "RS256")
        let server = try await KeyServer(ProviderKey.set(key))
        let users = try Self.block("users:")
        #expect(users.contains("https://id.example.com/jwks.json"))
        let service = try RunningService()
        try service.configure(
            """
            apps:
              - bundleID: com.example.app
                products: [{productID: com.example.app.pro.monthly, offers: [retention_50off_3m]}]

            """
                + users.replacing("https://id.example.com/jwks.json", with: server.url))
        try service.reload(service.configurationSetting)
        func token(_ user: String) throws -> String {
            let expiry = Int(Date.now.timeIntervalSince1970) + 600
            return try key.token(
                "RS256",
                claims: """
                    {"iss":"https://id.example.com/","aud":"com.example.offers","exp":\(expiry),"sub":"\(user)"}
                    """)
        }
        let curl = try #require(
            MarkdownBlock.all(in: "README.md").first { $0.language == "sh" && $0.text.contains("$TOKEN") }
        ).text.replacing(":8080", with: ":\(service.port)")
        func ask(_ user: String) throws -> String {
            try Command.run("bash", ["-c", curl], environment: ["TOKEN": token(user)]).standardOutput
        }
        // Until the file is applied, anyone gets a signature, and the response names no user.
        let nameOfUser = #","applicationUsername":"8d7f9a52c4e1"}"#
        try await waitUntil { try ask("8d7f9a52c4e1").hasSuffix(nameOfUser) }
        #expect(try ask("8d7f9a52c4e1").hasSuffix(nameOfUser))
        #expect(try ask("another").contains(#""code":"customer_not_yours""#))
    }
}
