import AppStoreStandIn
import Foundation
import OfferCrypto
import TestSupport
import Testing

/// `offer-signer catalogue` and `doctor --online`, as processes against a stand-in for App Store Connect.
@Suite("The catalogue commands", .serialized, .timeLimit(.minutes(5)))
struct CatalogueCommandTests {
    private static let keyID = "3Y8S5JYG45"
    private static let issuer = "57246542-96fe-1a63-e053-0824d011072a"

    private struct Setup: Sendable {
        let standIn: AppStoreConnectStandIn
        let folder: TemporaryFolder
        let keys: TemporaryFolder
        let key: [UInt8]

        init(_ catalogue: ConnectCatalogue = .example) async throws {
            (folder, keys) = (try TemporaryFolder(), try RunningService.makeKeys())
            key = try PrivateKeyPEM.generate()
            standIn = try await AppStoreConnectStandIn(
                catalogue, folder: folder.path, issuerID: CatalogueCommandTests.issuer,
                key: (CatalogueCommandTests.keyID, try SigningKey(text: key)))
            try folder.write(key, to: "AuthKey_\(CatalogueCommandTests.keyID).p8")
            try write(offers: "[winback_1m, retention_free, up_front_3m]")
        }

        func write(offers: String) throws {
            try folder.write(
                """
                apps:
                  - bundleID: com.example.app
                    appAppleID: 1234567890
                    products:
                      - {productID: com.example.app.pro.monthly, offers: \(offers)}
                      - {productID: com.example.app.pro.yearly, offers: [yearly_20off]}
                      - {productID: com.example.app.basic.monthly, offers: [basic_1m]}
                """.utf8, to: "offers.yaml")
        }

        var environment: [String: String] {
            [
                "SUBSCRIPTION_OFFERS_CONFIG": folder.path + "/offers.yaml",
                "SUBSCRIPTION_OFFERS_APP_STORE_CONNECT_KEY_FILE":
                    folder.path + "/AuthKey_\(CatalogueCommandTests.keyID).p8",
                "SUBSCRIPTION_OFFERS_APP_STORE_CONNECT_ISSUER_ID": CatalogueCommandTests.issuer,
                "SUBSCRIPTION_OFFERS_APP_STORE_CONNECT_URL": standIn.url,
                "SUBSCRIPTION_OFFERS_APP_STORE_API_ROOTS": standIn.tls.rootPath,
            ]
        }

        func run(_ arguments: [String], _ changes: [String: String] = [:]) async throws -> Command.Outcome {
            let environment = environment.merging(changes) { $1 }
            return try await onOwnThread {
                try Command.run(Command.offerSigner, arguments, environment: environment, directory: keys.url)
            }
        }
    }

    @Test("check exits with 0 for a correct catalogue, and with 1 for an offer that is gone")
    func check() async throws {
        let setup = try await Setup()
        let good = try await setup.run(["catalogue", "check"])
        #expect(good.status == 0, "\(good)")
        #expect(good.standardOutput == "ok: the catalogue agrees with App Store Connect\n")
        try setup.write(offers: "[winback_lm, retention_free, up_front_3m]")
        let bad = try await setup.run(["catalogue", "check"])
        #expect(bad.status == 1)
        #expect(
            bad.standardOutput.hasPrefix(
                """
                error: com.example.app com.example.app.pro.monthly winback_lm: App Store Connect has no such promotional offer, \
                so the App Store refuses its signatures
                hint: did you mean winback_1m?
                """), "\(bad.standardOutput)")
        let json = try await setup.run(["catalogue", "check", "--json"])
        let lines = json.standardOutput.split(separator: "\n").compactMap {
            try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
        }
        #expect(json.status == 1 && lines.count == 2)
        #expect(lines[0]["code"] as? String == "unknown_offer" && lines[0]["offer"] as? String == "winback_lm")
        #expect(lines[1]["code"] as? String == "unused_offer" && lines[1]["severity"] as? String == "warning")
        await setup.standIn.stop()
    }

    @Test("the example in docs/catalogue.md is what check prints, with and without --json")
    func pageExample() async throws {
        var catalogue = ConnectCatalogue.example
        catalogue["com.example.app.pro.monthly"]?.offers[0].code = "winback_lm"
        let setup = try await Setup(catalogue)
        let page = try MarkdownPage("docs/catalogue.md")
        let blocks = try MarkdownBlock.all(in: page.path)
        #expect(blocks.map(\.language) == ["text", "json"])
        let printed = try await setup.run(["catalogue", "check"])
        #expect(printed.status == 1 && printed.standardOutput.hasPrefix(blocks[0].text), "\(printed)")
        let json = try await setup.run(["catalogue", "check", "--json"])
        let line = try #require(json.standardOutput.split(separator: "\n").first)
        let finding = try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        let members = try #require(page.prose.firstMatch(of: /each finding is a line with ([^.]*)\./)).output.1
        let named = Set(members.matches(of: /`([A-Za-z]+)`/).map { String($0.output.1) })
        #expect(named.isSuperset(of: finding.keys))
        #expect(named.subtracting(finding.keys).isSubset(of: ["territories"]))
        await setup.standIn.stop()
    }

    @Test("what pull prints is a configuration without findings")
    func pull() async throws {
        let setup = try await Setup()
        let pulled = try await setup.run(["catalogue", "pull", "--bundle-id", "com.example.app"])
        #expect(pulled.status == 0, "\(pulled)")
        #expect(pulled.standardOutput.contains("      # Pro; group Plans; approved; win-back offers winback_asc;"))
        #expect(pulled.standardOutput.contains("        price: {EUR: 10.99, USD: 9.99}\n"))
        try setup.folder.write(pulled.standardOutput.utf8, to: "offers.yaml")
        let checked = try await setup.run(["catalogue", "check"])
        #expect(checked.status == 0, "\(checked)\n\(pulled.standardOutput)")
        #expect(checked.standardOutput == "ok: the catalogue agrees with App Store Connect\n")
        await setup.standIn.stop()
    }

    @Test("the key may come from the environment, and appears in no output")
    func secrecy() async throws {
        let setup = try await Setup()
        let text = String(decoding: setup.key, as: UTF8.self)
        let outcome = try await setup.run(
            ["catalogue", "check"],
            [
                "SUBSCRIPTION_OFFERS_APP_STORE_CONNECT_KEY_FILE": "", "SUBSCRIPTION_OFFERS_APP_STORE_CONNECT_KEY": text,
                "SUBSCRIPTION_OFFERS_APP_STORE_CONNECT_KEY_ID": Self.keyID,
            ])
        #expect(outcome.status == 0, "\(outcome)")
        setup.standIn.add(.status(401), .status(401))
        let refused = try await setup.run(["catalogue", "check"])
        #expect(refused.status == 1 && refused.standardError.contains("the token is not accepted (HTTP status 401)"))
        let secrets =
            text.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("-----") }
            + setup.standIn.seen.compactMap { $0.authorization?.split(separator: " ").last.map(String.init) }
        for output in [outcome, refused] {
            for secret in secrets {
                #expect(!output.standardOutput.contains(secret) && !output.standardError.contains(secret))
            }
        }
        await setup.standIn.stop()
    }

    @Test(
        "a missing key and an unusable one are named",
        arguments: [
            (
                [
                    "SUBSCRIPTION_OFFERS_APP_STORE_CONNECT_KEY_FILE": "",
                    "SUBSCRIPTION_OFFERS_APP_STORE_CONNECT_ISSUER_ID": "",
                ],
                "no key for App Store Connect is configured"
            ),
            (["SUBSCRIPTION_OFFERS_APP_STORE_CONNECT_KEY_FILE": ""], "but there is no key for it"),
            (["SUBSCRIPTION_OFFERS_APP_STORE_CONNECT_KEY_FILE": "offers.yaml"], "there is no key file offers.yaml"),
            (["SUBSCRIPTION_OFFERS_APP_STORE_CONNECT_KEY": "x"], "is given twice"),
        ])
    func problems(changes: [String: String], message: String) async throws {
        let setup = try await Setup()
        let outcome = try await setup.run(["catalogue", "check"], changes)
        #expect(outcome.status == 1 && outcome.standardError.contains(message), "\(outcome)")
        #expect(setup.standIn.seen.isEmpty)
        await setup.standIn.stop()
    }

    @Test("doctor --online names a dead offer, and a running service is degraded by it")
    func service() async throws {
        let setup = try await Setup()
        try setup.write(offers: "[winback_1m, gone, retention_free, up_front_3m]")
        let doctor = try await setup.run(
            ["doctor", "--online", "--keys-dir", setup.keys.path],
            ["SUBSCRIPTION_OFFERS_KEY_ID": RunningService.keyID, "SUBSCRIPTION_OFFERS_APP_STORE_API": "off"])
        #expect(
            doctor.status == 1 && doctor.standardError.contains("com.example.app.pro.monthly gone: App Store Connect"))
        let service = try RunningService(environment: setup.environment, keys: setup.keys)
        try await waitUntil {
            try await service.get("/health/ready").text.contains(#""appStoreConnect":"degraded""#)
        }
        let health = try await service.get("/health/ready").text
        #expect(health.contains("com.example.app.pro.monthly gone: App Store Connect has no such promotional offer"))
        let metrics = try await service.get("/metrics").text
        #expect(metrics.contains(#"offer_signer_catalogue_findings{app="com.example.app",severity="error"} 1"#))
        #expect(service.stop() == 0)
        await setup.standIn.stop()
    }
}
