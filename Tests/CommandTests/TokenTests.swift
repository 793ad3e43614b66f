import Crypto
import Foundation
import OfferCrypto
import TestSupport
import Testing

/// Keys in a token of SoftHSM: import, checks, signatures and rotation.
@Suite("Keys in tokens", .serialized, .timeLimit(.minutes(5)))
struct TokenTests {
    private let token: SoftHSM
    private let keys: TemporaryFolder

    init() throws {
        token = try SoftHSM()
        keys = try RunningService.makeKeys()
    }

    private var keyFile: String { keys.path + "/" + RunningService.keyFile }

    private func run(_ arguments: [String], input: String = "", keysDir: String? = nil) throws -> Command.Outcome {
        try keys.write(token.configuration(RunningService.keyID).utf8, to: "config.yaml")
        return try Command.runOfferSigner(
            arguments + ["--config", keys.path + "/config.yaml", "--keys-dir", keysDir ?? keys.path], input: input,
            environment: token.environment)
    }

    @Test("a key file is put into a token, which does not give the key out, and is never replaced")
    func importing() throws {
        let outcome = try token.importKey(keyFile)
        #expect(outcome.status == 0, "\(outcome.standardError)")
        let uri = "pkcs11:token=offers;object=\(RunningService.keyID)"
        let fingerprint = try SigningKey(text: keys.read(RunningService.keyFile)).fingerprint
        #expect(
            outcome.standardOutput == """
                ok: \(uri) signs (token offers; SHA-256 of the public key \(fingerprint))
                keys:
                  - id: \(RunningService.keyID)
                    uri: "\(uri)"
                    module: "\(SoftHSM.module)"
                    pinFile: "\(token.pinFile)"

                """)
        #expect(outcome.standardError.contains("then destroy \(keyFile) and every copy of it"))
        let listed = try Command.run(
            "pkcs11-tool",
            ["--module", SoftHSM.module, "--login", "--pin", SoftHSM.pin, "--token-label", "offers", "-O"],
            environment: token.environment
        ).standardOutput
        #expect(listed.contains("Usage:      sign\n") && listed.contains("Access:     sensitive\n"), "\(listed)")

        let again = try token.importKey(keyFile)
        #expect(again.status == 1)
        #expect(again.standardError.contains("the token already has a key with this label or ID"))
        let wrongPath = try token.importKey(keys.path + "/none.p8", as: RunningService.keyID)
        #expect(wrongPath.status == 1 && wrongPath.standardError.contains("there is no key file"))
    }

    @Test("keys check, keys list and doctor know keys in tokens")
    func commands() throws {
        let empty = try TemporaryFolder()
        let missing = try run(["keys", "check"], keysDir: empty.path)
        #expect(missing.status == 1)
        #expect(missing.standardError.contains("cannot sign: the token has no such private key"))
        #expect(missing.standardError.contains("hint: put both halves there with: offer-signer keys import"))
        #expect(try token.importKey(keyFile).status == 0)
        let checked = try run(["keys", "check"], keysDir: empty.path)
        #expect(checked.status == 0 && checked.standardOutput.contains("signs (token offers;"))
        #expect(try run(["keys", "list"]).standardOutput.contains("standby  -     token offers  "))
        let doctor = try run(["doctor", "--key-id", RunningService.keyID], keysDir: empty.path)
        #expect(doctor.status == 0, "\(doctor.standardError)")
        #expect(doctor.standardOutput.contains("ok: key \(RunningService.keyID) signs, in the token offers\n"))
        #expect(!"\(doctor)".contains(SoftHSM.pin))
    }

    @Test("a key in a token that cannot serve is refused, with what is wrong with it")
    func unfitKeys() throws {
        let good = ["--key-type", "EC:prime256v1", "--sensitive", "--usage-sign"]
        let cases: [(made: [[String]], problem: String)] = [
            ([["--key-type", "rsa:2048", "--sensitive", "--usage-sign"]], "it is not a key for ECDSA"),
            ([["--key-type", "EC:secp384r1", "--sensitive", "--usage-sign"]], "it is not on the curve P-256"),
            ([good + ["--extractable"]], "the token would give out the private key"),
            (
                [["--key-type", "EC:prime256v1", "--usage-sign", "--extractable"]],
                "CKA_EXTRACTABLE or not CKA_SENSITIVE"
            ),
            ([good + ["--always-auth"]], "requires the PIN for every signature"),
            ([good, good], "several private keys match the URI"),
        ]
        let empty = try TemporaryFolder()
        for (number, (made, problem)) in cases.enumerated() {
            for (place, arguments) in made.enumerated() {
                try token.makeKeyPair(
                    ["--label", RunningService.keyID, "--id", "0\(number)0\(place)"] + arguments)
            }
            let checked = try run(["keys", "check"], keysDir: empty.path)
            #expect(checked.status == 1 && checked.standardError.contains(problem), "\(checked.standardError)")
            for _ in made { try token.destroy(RunningService.keyID) }
        }
        try token.makeKeyPair(["--label", RunningService.keyID, "--id", "77"] + good)
        #expect(try run(["keys", "check"], keysDir: empty.path).status == 0)
        try token.destroy(RunningService.keyID, ["pubkey"])
        let half = try run(["keys", "check"], keysDir: empty.path)
        #expect(half.status == 1 && half.standardError.contains("the token has no public key"), "\(half.standardError)")
    }

    @Test("another implementation accepts what a key in a token signs, and refuses it with a flipped bit")
    func anotherImplementation() throws {
        #expect(try token.importKey(keyFile).status == 0)
        let pem = String(decoding: try keys.read(RunningService.keyFile), as: UTF8.self)
        let key = try P256.Signing.PrivateKey(pemRepresentation: pem).publicKey
        let empty = try TemporaryFolder()
        for number in 0..<20 {
            let fields =
                #"{"appBundleID":"a","productIdentifier":"p","offerID":"o","applicationUsername":"u\#(number)"}"#
            let outcome = try run(["sign", "--key-id", RunningService.keyID], input: fields, keysDir: empty.path)
            let json = try #require(
                JSONSerialization.jsonObject(with: Data(outcome.standardOutput.utf8)) as? [String: Any])
            let signature = try #require((json["signature"] as? String).flatMap { Data(base64Encoded: $0) })
            let payload = [
                "a", RunningService.keyID, "p", "o", "u\(number)", json["nonce"] as? String ?? "",
                "\(json["timestamp"] as? Int64 ?? 0)",
            ].joined(separator: "\u{2063}")
            let parsed = try P256.Signing.ECDSASignature(derRepresentation: signature)
            #expect(key.isValidSignature(parsed, for: Data(payload.utf8)))
            var raw = parsed.rawRepresentation
            raw[63] ^= 1
            #expect(!key.isValidSignature(try .init(rawRepresentation: raw), for: Data(payload.utf8)))
        }
    }

    @Test("keys move from the file to the token and back, under load, without a lost request")
    func moving() async throws {
        let service = try RunningService(environment: token.environment, keys: keys)
        let load = OfferLoad()
        load.expect(service.verifyingKey, as: RunningService.keyID)
        #expect(try token.importKey(keyFile).status == 0)
        try await load.run(port: service.port) { [token, keys] in
            let pem = try keys.read(RunningService.keyFile)
            for _ in 0..<3 {
                try service.configure(token.configuration(RunningService.keyID))
                let before = try await Self.tokenCount(of: service)
                try service.reload(service.configurationSetting)
                try await waitUntil { try await Self.tokenCount(of: service) > before }
                try keys.remove(RunningService.keyFile)
                try await waitUntil { try await Self.tokenCount(of: service) > before + 100 }
                try keys.drop(pem, as: RunningService.keyFile)
                try service.configure("limits:\n  tokens: off\n")
                let applied = try service.log.ranges(of: "keys in force").count
                try service.reload(service.configurationSetting)
                try await waitUntil { try service.log.ranges(of: "keys in force").count > applied }
            }
        }
        #expect(load.failures == [])
        #expect(service.stop() == 0)
    }

    @Test("keys rotate between a file and two keys in tokens by SIGHUP, under load, and each audit line names its key")
    func rotation() async throws {
        let (second, third) = ("SECONDKEY1", "THIRDKEY12")
        try token.addToken("standby")
        let load = OfferLoad()
        for (id, label) in [(second, "offers"), (third, "standby")] {
            let pem = try PrivateKeyPEM.generate()
            let folder = try TemporaryFolder()
            try folder.write(pem, to: "SubscriptionKey_\(id).p8")
            #expect(try token.importKey(folder.path + "/SubscriptionKey_\(id).p8", to: label).status == 0)
            load.expect(try SigningKey(text: pem).verifyingKey, as: id)
        }
        let folder = try TemporaryFolder()
        let configuration =
            token.configuration(second)
            + token.configuration(third, of: "standby").replacing("keys:\n", with: "")
        try folder.write(configuration.utf8, to: "config.yaml")
        let trail = folder.path + "/audit.jsonl"
        let service = try RunningService(
            arguments: ["--config", folder.path + "/config.yaml", "--audit-log", trail],
            environment: token.environment, keys: keys)
        load.expect(service.verifyingKey, as: RunningService.keyID)
        try await load.run(port: service.port) {
            for _ in 0..<5 {
                for id in [second, third, second, RunningService.keyID, third, RunningService.keyID] {
                    try service.reload(keyID: id)
                    #expect(try await load.waitForAnswer(by: id), "no answer signed by \(id)")
                }
            }
        }
        #expect(load.failures == [])
        #expect(service.stop() == 0)
        var signed: [String: Int] = [:]
        for line in try folder.lines("audit.jsonl") {
            let entry = try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            guard let nonce = entry["nonce"] as? String, let id = entry["keyID"] as? String else { continue }
            #expect(load.nonces.contains(nonce))
            signed[id, default: 0] += 1
        }
        #expect(signed == load.answers && signed.count == 3)
        #expect(try Command.runOfferSigner(["audit", "verify", trail]).status == 0)
    }

    static func tokenCount(of service: RunningService) async throws -> Int {
        let metrics = try await service.get("/metrics").text
        return metrics.firstMatch(of: /offer_signer_token_seconds_count ([0-9]+)/).flatMap { Int($0.output.1) } ?? 0
    }

    @Test(
        "the configuration is refused with a PIN in the URI, a relative path, or a name that decides nothing",
        arguments: [
            ("pkcs11:token=offers;object=A?pin-value=12345678", "contains a PIN"),
            ("pkcs11:token=offers;object=A;pin-value=12345678", "contains a PIN"),
            ("pkcs11:token=offers", "names no key"), ("pkcs11:object=A", "names no token"),
            ("pkcs11:token=offers;object=A?module-path=/x", "names a module"),
        ])
    func refusedConfiguration(uri: String, problem: String) throws {
        try keys.write(
            "keys:\n  - id: 2X9R4HXF34\n    uri: \"\(uri)\"\n    module: libsofthsm2.so\n".utf8, to: "refused.yaml")
        let outcome = try Command.runOfferSigner(
            ["keys", "check", "--config", keys.path + "/refused.yaml", "--keys-dir", keys.path])
        #expect(outcome.status == 1)
        #expect(outcome.standardError.contains(problem), "\(outcome.standardError)")
        #expect(outcome.standardError.contains("module is not an absolute path"))
        #expect(!outcome.standardError.contains("12345678"))
    }

    @Test("a PIN file that others can read is refused, unless it is a systemd credential")
    func pinFileMode() throws {
        #expect(try token.importKey(keyFile).status == 0)
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: token.pinFile)
        let outcome = try run(["keys", "check"])
        #expect(outcome.status == 1)
        #expect(outcome.standardError.contains("contains a PIN and can be read by others (mode 640)"))
        let folder = URL(filePath: token.pinFile).deletingLastPathComponent().path
        let credential = try Command.runOfferSigner(
            ["keys", "check", "--config", keys.path + "/config.yaml", "--keys-dir", keys.path],
            environment: token.environment.merging(["CREDENTIALS_DIRECTORY": folder]) { $1 })
        #expect(credential.status == 0, "\(credential.standardError)")
    }
}
