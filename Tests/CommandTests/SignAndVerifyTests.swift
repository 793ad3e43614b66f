import Foundation
import OfferAudit
import OfferCore
import OfferCrypto
import OfferEligibility
import TestSupport
import Testing

@Suite("offer-signer sign, verify and keys", .serialized)
struct SignAndVerifyTests {
    private static let offer =
        #"{"appBundleID":"com.example.app","productIdentifier":"pro","offerID":"offer","applicationUsername":"Üser"}"#

    private static func folderWithKey() throws -> (folder: TemporaryFolder, environment: [String: String]) {
        let folder = try TemporaryFolder()
        let made = try Command.runOfferSigner(["keys", "generate", "--key-id", "TESTKEY123", "--keys-dir", folder.path])
        try #require(made.status == 0, "\(made.standardError)")
        return (folder, ["SUBSCRIPTION_OFFERS_KEYS_DIR": folder.path, "SUBSCRIPTION_OFFERS_KEY_ID": "TESTKEY123"])
    }

    @Test("keys generate writes a private file, prints the public half, and never overwrites a file")
    func generate() throws {
        let folder = try TemporaryFolder()
        let arguments = ["keys", "generate", "--key-id", "TESTKEY123", "--keys-dir", folder.path]
        let made = try Command.runOfferSigner(arguments)
        #expect(made.status == 0)
        let path = folder.path + "/SubscriptionKey_TESTKEY123.p8"
        let key = try SigningKey(text: folder.read("SubscriptionKey_TESTKEY123.p8"))
        let printed = try #require(
            JSONSerialization.jsonObject(with: Data(made.standardOutput.utf8)) as? [String: String])
        #expect(printed["keyID"] == "TESTKEY123")
        #expect(printed["file"] == path)
        let publicKey = try key.verifyingKey.der.foundationBase64
        #expect(printed["publicKey"] == publicKey)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)

        let before = try folder.read("SubscriptionKey_TESTKEY123.p8")
        let again = try Command.runOfferSigner(arguments)
        #expect(again.status == 1)
        #expect(again.standardError.contains("already exists"))
        #expect(try folder.read("SubscriptionKey_TESTKEY123.p8") == before)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 1,
            "no temporary file is left behind")

        let nowhere = try Command.runOfferSigner(["keys", "generate", "--keys-dir", folder.path + "/none"])
        #expect(nowhere.status == 1)
        #expect(nowhere.standardError.contains("hint: the folder must exist"))
    }

    @Test("verify accepts the output of sign and refuses it after a field is changed")
    func roundTrip() throws {
        let (folder, environment) = try Self.folderWithKey()
        let signed = try Command.runOfferSigner(["sign"], input: Self.offer, environment: environment)
        #expect(signed.status == 0)
        #expect(signed.standardError == "")
        let verified = try Command.runOfferSigner(["verify"], input: signed.standardOutput, environment: environment)
        #expect(verified.status == 0)
        #expect(verified.standardOutput.hasPrefix(#"{"verifies":true,"#))

        let changed = signed.standardOutput.replacing("Üser", with: "U\u{308}ser")
        let refused = try Command.runOfferSigner(["verify"], input: changed, environment: environment)
        #expect(refused.status == 1)
        #expect(refused.standardOutput.hasPrefix(#"{"verifies":false,"#))

        try folder.write(signed.standardOutput.utf8, to: "signed.json")
        let fromFile = try Command.runOfferSigner(["verify", "signed.json", "--keys-dir", "."], directory: folder.url)
        #expect(fromFile.status == 0)
    }

    @Test("verify tries every key in the folder, even retired ones, and reports an invalid key file")
    func explained() throws {
        var (folder, environment) = try Self.folderWithKey()
        func verify(_ input: String) throws -> Command.Outcome {
            try Command.runOfferSigner(["verify"], input: input, environment: environment)
        }
        let signed = try Command.runOfferSigner(["sign"], input: Self.offer, environment: environment).standardOutput
        try folder.write(PrivateKeyPEM.generate(), to: "SubscriptionKey_OTHERKEY12.p8")
        environment["SUBSCRIPTION_OFFERS_KEY_ID"] = "OTHERKEY12"
        environment["SUBSCRIPTION_OFFERS_RETIRED_KEY_IDS"] = "TESTKEY123"
        let retired = try verify(signed)
        #expect(retired.status == 0)
        #expect(retired.standardOutput.contains(#""warnings":[{"code":"key_retired""#))
        let named = try verify(signed.replacing("TESTKEY123", with: "OTHERKEY12"))
        #expect(named.status == 1)
        #expect(named.standardOutput.contains(#""keyID":"TESTKEY123","cause":"key_id_differs""#))
        #expect(named.standardError == "")

        try folder.write("no key".utf8, to: "SubscriptionKey_TESTKEY123.p8")
        let broken = try verify(signed)
        #expect(broken.status == 1)
        #expect(broken.standardOutput.contains(#""cause":"unknown_key_id""#))
        #expect(broken.standardError.contains("SubscriptionKey_TESTKEY123.p8"))

        let jws = try verify(#"{"compactJWS":"e30.e30"}"#)
        #expect(jws.status == 1)
        #expect(jws.standardOutput.contains(#""cause":"jws_unreadable""#))
        let misspelt = try verify(signed.replacing("nonce", with: "nonse"))
        #expect(misspelt.status == 1)
        #expect(misspelt.standardError == "error: nonse is not a field of this request.\n")
    }

    @Test(
        "sign adds compactJWS for an issuer ID and a transactionID, or names the missing one; verify accepts the output"
    )
    func compactJWS() throws {
        let (folder, environment) = try Self.folderWithKey()
        let key = try SigningKey(text: folder.read("SubscriptionKey_TESTKEY123.p8"))
        let bound = Self.offer.replacing("}", with: #","transactionID":"2000000123456789"}"#)
        let issuer = ["SUBSCRIPTION_OFFERS_ISSUER_ID": Fixtures.issuerText]
        func sign(_ offer: String, _ arguments: [String], _ more: [String: String] = [:]) throws -> String {
            let signed = try Command.runOfferSigner(
                ["sign"] + arguments, input: offer, environment: environment.merging(more) { $1 })
            #expect(signed.status == 0, "\(signed.standardError)")
            return signed.standardOutput
        }
        for output in [try sign(bound, ["--issuer-id", Fixtures.issuerText]), try sign(bound, [], issuer)] {
            let json = try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any]
            #expect(json?["transactionID"] as? String == "2000000123456789")
            let jws = try CompactJWS(Array(try #require(json?["compactJWS"] as? String).utf8))
            #expect(try key.verify(jws.signature.der, of: jws.signingInput))
            #expect(jws.content.issuerID == (try Fixtures.issuerID()))
            let verified = try Command.runOfferSigner(["verify"], input: output, environment: environment)
            #expect(verified.status == 0, "\(verified.standardError)")
            #expect(verified.standardOutput.contains(#""compactJWS":{"verifies":true"#))
            for (issuer, status) in [(Fixtures.issuerText, 0), (Fixtures.nonceText, 1)] {
                let outcome = try Command.runOfferSigner(
                    ["verify", "--issuer-id", issuer], input: output, environment: environment)
                #expect(outcome.status == Int32(status))
                #expect(outcome.standardOutput.contains(#""cause":"claim_differs","field":"iss""#) == (status == 1))
            }
            try folder.write(
                Array(
                    "-----BEGIN PUBLIC KEY-----\n\(key.verifyingKey.der.foundationBase64)\n-----END PUBLIC KEY-----\n"
                        .utf8),
                to: "public.pem")
            let alone = try Command.runOfferSigner(
                ["verify", "--public-key", folder.path + "/public.pem", "--issuer-id", Fixtures.nonceText],
                input: output)
            #expect(alone.status == 1 && alone.standardOutput.contains(#""cause":"claim_differs","field":"iss""#))
        }
        for (output, missing) in [
            (try sign(bound, []), #","compactJWSMissing":["issuer_id_missing"]}"#),
            (try sign(Self.offer, [], issuer), #","compactJWSMissing":["transaction_id_missing"]}"#),
            (try sign(Self.offer, []), "}"),
        ] {
            #expect(output.hasSuffix(missing + "\n"))
            #expect(!output.contains("\"compactJWS\"") && !output.contains("transactionID"))
            #expect(missing != "}" || !output.contains("compactJWSMissing"))
            let verified = try Command.runOfferSigner(["verify"], input: output, environment: environment)
            #expect(verified.status == 0, "\(verified.standardError)")
        }
        let wrong = try Command.runOfferSigner(["sign", "--issuer-id", "x"], input: bound, environment: environment)
        #expect(wrong.status == 1)
        #expect(wrong.standardError.contains("SUBSCRIPTION_OFFERS_ISSUER_ID or --issuer-id must be a UUID"))
    }

    @Test(
        "verify accepts a /v1/promotional-offers response and needs only the public key",
        arguments: try OfferVectors.load().vectors)
    func publicKey(vector: OfferVectors.Vector) throws {
        let folder = try TemporaryFolder()
        let der = try OfferVectors.load().publicKey
        try folder.write(
            "-----BEGIN PUBLIC KEY-----\n\(der.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed]))\n-----END PUBLIC KEY-----\n"
                .utf8,
            to: "public.pem")
        let customer = vector.appAccountToken.map { #""appAccountToken":"\#($0)""# } ?? #""applicationUsername":"""#
        let input = """
            {"bundleID":"\(vector.appBundleID)","productID":"\(vector.productIdentifier)","offerID":"\(vector.offerID)",
             \(customer),"signature":{"keyID":"\(vector.keyID)","nonce":"\(vector.nonce.uppercased())",
             "timestamp":\(vector.timestamp),"signature":"\(vector.signature.base64EncodedString())"}}
            """
        let outcome = try Command.runOfferSigner(["verify", "--public-key", folder.path + "/public.pem"], input: input)
        #expect(outcome.status == 0, "\(outcome.standardError)")
    }

    @Test(
        "sign rejects invalid input with a reason and exits with status 1",
        arguments: [
            ("", "unexpected end"), ("[]", "not a JSON object"), ("{}", "appBundleID is missing"),
            (#"{"appBundleID":"a","productIdentifier":"p","offerID":"o"}"#, "applicationUsername is missing"),
            (#"{"appBundleID":"a\u2063","productIdentifier":"p","offerID":"o","applicationUsername":""}"#, "U+2063"),
            (
                #"{"appBundleID":"a","productIdentifier":"p","offerID":"o","applicationUsername":"","nonce":"x"}"#,
                "nonce is set by the server"
            ),
        ])
    func badInput(input: String, complaint: String) throws {
        let (_, environment) = try Self.folderWithKey()
        let outcome = try Command.runOfferSigner(["sign"], input: input, environment: environment)
        #expect(outcome.status == 1)
        #expect(outcome.standardOutput == "")
        #expect(outcome.standardError.hasPrefix("error: "))
        #expect(outcome.standardError.contains(complaint), "\(outcome.standardError)")
    }

    @Test("sign refuses input larger than 32 KiB")
    func largeInput() throws {
        let (_, environment) = try Self.folderWithKey()
        let outcome = try Command.run(
            Command.offerSigner, ["sign"], input: [UInt8](repeating: 0x20, count: 40_000), environment: environment)
        #expect(outcome.status == 1)
        #expect(outcome.standardError.contains("larger than 32768 bytes"))
    }

    @Test(
        "invalid usage exits with status 64, and --help with status 0", arguments: ["serve", "sign", "verify", "keys"])
    func usage(subcommand: String) throws {
        #expect(try Command.runOfferSigner([subcommand, "--no-such-option"]).status == 64)
        let help = try Command.runOfferSigner([subcommand, "--help"])
        #expect(help.status == 0)
        #expect(help.standardOutput.contains("USAGE: offer-signer \(subcommand)"))
    }

    @Test("a non-numeric port is invalid usage, but an out-of-range port is reported with the other problems")
    func port() throws {
        #expect(try Command.runOfferSigner(["serve", "--port", "http"]).status == 64)
        let outcome = try Command.runOfferSigner(["serve", "--port", "70000", "--host", ""])
        #expect(outcome.status == 1)
        #expect(outcome.standardError.contains("there is no port 70000"))
        #expect(outcome.standardError.contains("no signing key is chosen"))
    }

    @Test("sign accepts a key's text from the environment")
    func keyInEnvironment() throws {
        let pem = try PrivateKeyPEM.generate()
        let outcome = try Command.runOfferSigner(
            ["sign"], input: Self.offer,
            environment: [
                "SUBSCRIPTION_OFFERS_KEY_ID": "ENVKEY1234",
                "SUBSCRIPTION_OFFERS_PRIVATE_KEY": String(decoding: pem, as: UTF8.self),
            ])
        #expect(outcome.status == 0)
        #expect(outcome.standardOutput.contains(#""keyID":"ENVKEY1234""#))
    }

    @Test("an app's own key signs only for that app")
    func ownKeys() throws {
        let (folder, _) = try Self.folderWithKey()
        try folder.write(PrivateKeyPEM.generate(), to: "SubscriptionKey_OWNKEY1234.p8")
        var environment = [
            "SUBSCRIPTION_OFFERS_KEYS_DIR": folder.path,
            "SUBSCRIPTION_OFFERS_BUNDLE_KEY_IDS": "com.example.app=OWNKEY1234",
        ]
        func sign(_ app: String) throws -> Command.Outcome {
            let offer = Self.offer.replacing("com.example.app", with: app)
            return try Command.runOfferSigner(["sign"], input: offer, environment: environment)
        }
        let own = try sign("com.example.app")
        #expect(own.standardOutput.contains(#""keyID":"OWNKEY1234""#))
        let verified = try Command.runOfferSigner(["verify"], input: own.standardOutput, environment: environment)
        #expect(verified.status == 0)
        let other = try sign("com.example.other")
        #expect(other.status == 1)
        #expect(other.standardError.hasSuffix("error: This service does not sign this offer.\n"))

        environment["SUBSCRIPTION_OFFERS_KEY_ID"] = "TESTKEY123"
        #expect(try sign("com.example.app").standardOutput.contains(#""keyID":"OWNKEY1234""#))
        #expect(try sign("com.example.other").standardOutput.contains(#""keyID":"TESTKEY123""#))

        environment["SUBSCRIPTION_OFFERS_KEY_ID"] = "GONE123456"
        environment["SUBSCRIPTION_OFFERS_BUNDLE_KEY_IDS"] = "com.example.app=LOST123456"
        let missing = try sign("com.example.app")
        #expect(missing.status == 1)
        #expect(missing.standardError.contains("SubscriptionKey_GONE123456.p8"))
        #expect(missing.standardError.contains("SubscriptionKey_LOST123456.p8"), "all missing keys are named together")
    }

    @Test("--development creates its key once, with mode 0600, and warns that the App Store will refuse it")
    func development() throws {
        let folder = try TemporaryFolder()
        let arguments = ["sign", "--development", "--keys-dir", folder.path]
        for _ in 0..<2 {
            let outcome = try Command.runOfferSigner(arguments, input: Self.offer)
            #expect(outcome.status == 0)
            #expect(outcome.standardOutput.contains(#""keyID":"DEVELOPKEY""#))
            #expect(outcome.standardError.contains("the App Store will refuse"))
        }
        let path = folder.path + "/SubscriptionKey_DEVELOPKEY.p8"
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["SubscriptionKey_DEVELOPKEY.p8"])
    }
}
