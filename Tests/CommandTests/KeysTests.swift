import Foundation
import OfferAudit
import OfferCrypto
import TestSupport
import Testing

@Suite("offer-signer keys", .serialized, .timeLimit(.minutes(5)))
struct KeysTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        for id in ["ACTIVEKEY1", "STANDBYKEY", "RETIREDKEY", "OWNKEYOFA1"] {
            try folder.write(PrivateKeyPEM.generate(), to: "SubscriptionKey_\(id).p8")
        }
    }

    private func keys(_ arguments: String..., environment: [String: String] = [:]) throws -> Command.Outcome {
        try Command.runOfferSigner(["keys"] + arguments + ["--keys-dir", folder.path], environment: environment)
    }

    private static let environment = [
        "SUBSCRIPTION_OFFERS_KEY_ID": "ACTIVEKEY1", "SUBSCRIPTION_OFFERS_RETIRED_KEY_IDS": "RETIREDKEY",
        "SUBSCRIPTION_OFFERS_BUNDLE_KEY_IDS": "com.example.b=OWNKEYOFA1,com.example.a=OWNKEYOFA1",
    ]

    /// The key's fingerprint, computed by openssl and sha256sum.
    private func fingerprint(_ id: String) throws -> String {
        let file = folder.path + "/SubscriptionKey_\(id).p8"
        let outcome = try Command.run(
            "bash", ["-c", "openssl pkey -in \(file) -pubout -outform DER | sha256sum"])
        return String(outcome.standardOutput.prefix(64))
    }

    @Test("keys list shows each key's state, apps, form and fingerprint, and no secrets")
    func list() throws {
        try folder.write(Array("marked".utf8), to: "SubscriptionKey_BROKENKEY1.p8")
        let outcome = try keys("list", environment: Self.environment)
        #expect(outcome.status == 0)
        let rows = outcome.standardOutput.split(separator: "\n").map { $0.split(separator: "  ").map(String.init) }
        let form = "PKCS #8, PEM"
        #expect(
            try rows.dropFirst().map { $0.map { $0.trimmingCharacters(in: .whitespaces) } } == [
                ["ACTIVEKEY1", "active", "all others", form, fingerprint("ACTIVEKEY1")],
                ["OWNKEYOFA1", "active", "com.example.a,com.example.b", form, fingerprint("OWNKEYOFA1")],
                ["RETIREDKEY", "retired", "-", form, fingerprint("RETIREDKEY")],
                ["STANDBYKEY", "standby", "-", form, fingerprint("STANDBYKEY")],
            ])
        #expect(
            outcome.standardError.contains("error: \(folder.path)/SubscriptionKey_BROKENKEY1.p8 cannot sign offers"))
        let secret = try folder.text("SubscriptionKey_ACTIVEKEY1.p8")
            .split(separator: "\n")[1].suffix(24)
        #expect(!(outcome.standardOutput + outcome.standardError).contains(secret))
        #expect(!outcome.standardError.contains("marked"))
    }

    @Test("keys list --json includes a key from the environment and its form")
    func listJSON() throws {
        let pem = String(decoding: try PrivateKeyPEM.generate(), as: UTF8.self)
        let environment = [
            "SUBSCRIPTION_OFFERS_KEY_ID": "TEXTKEY123",
            "SUBSCRIPTION_OFFERS_PRIVATE_KEY": pem.replacing("\n", with: "\\n"),
        ]
        let outcome = try keys("list", "--json", environment: environment)
        let rows = try outcome.standardOutput.split(separator: "\n").map {
            try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: String])
        }
        #expect(rows.map { $0["keyID"] } == ["TEXTKEY123", "ACTIVEKEY1", "OWNKEYOFA1", "RETIREDKEY", "STANDBYKEY"])
        #expect(rows[0]["form"] == "PKCS #8, PEM with \\n written out")
        #expect(rows[0]["state"] == "active" && rows[0]["apps"] == "all")
    }

    @Test("keys check reports each broken file and exits with status 1, or with 0 if every key can sign")
    func check() throws {
        let good = try keys("check")
        #expect(good.status == 0)
        #expect(good.standardOutput.split(separator: "\n").count == 4)
        for broken in BrokenKeyFile.all { try broken.place(in: folder) }
        let whole = try keys("check")
        #expect(whole.status == 1)
        #expect(whole.standardOutput == good.standardOutput)
        for broken in BrokenKeyFile.all {
            #expect(whole.standardError.contains("\(folder.path)/\(broken.name)"), "\(broken)")
            #expect(whole.standardError.contains(broken.reason), "\(broken)")
        }
        let one = try keys("check", folder.path + "/SubscriptionKey_ACTIVEKEY1.p8")
        #expect(one.status == 0)
        let two = try keys("check", folder.path + "/SubscriptionKey_MISMATCHED.p8", folder.path + "/none.p8")
        #expect(two.status == 1)
        #expect(two.standardError.components(separatedBy: "error: ").count == 3)
        let empty = try TemporaryFolder()
        let nothing = try Command.runOfferSigner(["keys", "check", "--keys-dir", empty.path])
        #expect(nothing.status == 1)
    }

    @Test("a retired key still verifies its signatures but cannot be chosen to sign")
    func retired() throws {
        let offer = #"{"appBundleID":"a","productIdentifier":"p","offerID":"o","applicationUsername":""}"#
        let folder = ["--keys-dir", folder.path]
        let signed = try Command.runOfferSigner(["sign", "--key-id", "RETIREDKEY"] + folder, input: offer)
        #expect(signed.status == 0)
        let verified = try Command.runOfferSigner(
            ["verify"] + folder, input: signed.standardOutput, environment: Self.environment)
        #expect(verified.status == 0)
        let refused = try Command.runOfferSigner(
            ["sign", "--key-id", "RETIREDKEY"] + folder, input: offer, environment: Self.environment)
        #expect(refused.status == 1)
        #expect(refused.standardError.contains("key RETIREDKEY is chosen to sign but also retired"))
    }
}
