import Foundation
import OfferCore
import OfferCrypto
import TestSupport
import Testing

@testable import OfferSigning

@Suite struct FailureTests {
    private func key() throws -> OfferSigning.SigningKey {
        try OfferSigning.SigningKey(keyID: "ABCDE12345", pem: SigningTests.pem.get())
    }

    private func failure(_ call: () throws(SigningFailure) -> some Any) -> SigningFailure? {
        do throws(SigningFailure) {
            _ = try call()
            return nil
        } catch { return error }
    }

    @Test("a key loads from a file, and a failure never quotes it")
    func files() throws {
        let pem = try SigningTests.pem.get()
        let path = FileManager.default.temporaryDirectory.appending(path: "offer-signing-\(UUID()).p8").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(pem.utf8).write(to: URL(filePath: path))
        #expect(try OfferSigning.SigningKey(keyID: "ABCDE12345", contentsOfFile: path).keyID == "ABCDE12345")
        for contents in [pem.replacingOccurrences(of: "M", with: "N"), String(repeating: "x", count: 10_000), ""] {
            try Data(contents.utf8).write(to: URL(filePath: path))
            let error = failure { () throws(SigningFailure) in
                try OfferSigning.SigningKey(keyID: "ABCDE12345", contentsOfFile: path)
            }
            #expect(error?.code == .unusableKey, "\(error.debugDescription)")
            #expect(
                pem.split(separator: "\n").allSatisfy { $0.hasPrefix("-") || error?.description.contains($0) == false })
        }
        let missing = failure { () throws(SigningFailure) in
            try OfferSigning.SigningKey(keyID: "ABCDE12345", contentsOfFile: "/nowhere.p8")
        }
        #expect(missing?.code == .unusableKey)
        #expect(!"\(try key())".contains(pem.split(separator: "\n")[1]))
    }

    @Test("a public key that is not one on P-256 is refused")
    func publicKeys() throws {
        let p384 = try Command.run(
            "openssl", ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384", "-outform", "PEM"])
        let publicHalf = try Command.run("openssl", ["pkey", "-pubout"], input: Array(p384.standardOutput.utf8))
        #expect(publicHalf.standardOutput.hasPrefix("-----BEGIN PUBLIC KEY-----"))
        for pem in ["", "-----BEGIN PUBLIC KEY-----", try SigningTests.pem.get(), publicHalf.standardOutput] {
            let error = failure { () throws(SigningFailure) in try PublicKey(keyID: "ABCDE12345", pem: pem) }
            #expect(error?.code == .unusableKey)
        }
        let id = failure { () throws(SigningFailure) in try PublicKey(keyID: "A-B", pem: publicHalf.standardOutput) }
        #expect(id?.code == .invalidField && id?.field == "keyID")
    }

    @Test("a value that Apple refuses is named, and never signed")
    func fields() throws {
        let key = try key()
        let signer = try PromotionalOfferSigner(key: key, bundleID: "com.example.app")
        let jws = try JWSSigner(key: key, bundleID: "com.example.app", issuerID: SigningTests.issuerID)
        let failures = [
            failure { () throws(SigningFailure) in try OfferSigning.SigningKey(keyID: "A-B", pem: "") },
            failure { () throws(SigningFailure) in try PromotionalOfferSigner(key: key, bundleID: "") },
            failure { () throws(SigningFailure) in
                try signer.sign(productID: "a\u{2063}b", offerID: "o", for: .anonymous)
            },
            failure { () throws(SigningFailure) in try signer.sign(productID: "p", offerID: "", for: .anonymous) },
            failure { () throws(SigningFailure) in try Account.applicationUsername("a\u{2063}b") },
            failure { () throws(SigningFailure) in try JWSSigner(key: key, bundleID: "a", issuerID: "team") },
            failure { () throws(SigningFailure) in
                try jws.introductoryOffer(productID: "p", isAllowed: true, transactionID: "")
            },
            failure { () throws(SigningFailure) in try jws.advancedCommerce(json: "[]") },
        ]
        #expect(failures.allSatisfy { $0?.code == .invalidField })
        #expect(
            failures.map { $0?.field } == [
                "keyID", "bundleID", "productID", "offerID", "applicationUsername", "issuerID", "transactionID", "json",
            ])
    }

    @Test("a signature that does not verify never leaves")
    func badSignatures() throws {
        let key = OfferSigning.SigningKey(
            id: try KeyID(utf8: Array("ABCDE12345".utf8)),
            pair: FlippingKeyPair(try OfferCrypto.SigningKey(text: Array(SigningTests.pem.get().utf8))))
        let signer = try PromotionalOfferSigner(key: key, bundleID: "com.example.app")
        let jws = try JWSSigner(key: key, bundleID: "com.example.app", issuerID: SigningTests.issuerID)
        let failures = [
            failure { () throws(SigningFailure) in try signer.sign(productID: "p", offerID: "o", for: .anonymous) },
            failure { () throws(SigningFailure) in
                try jws.promotionalOffer(productID: "p", offerID: "o", transactionID: "1")
            },
        ]
        #expect(failures.allSatisfy { $0?.code == .signatureRefused })
    }

    @Test("a mistake is explained in a sentence with a code")
    func explanation() throws {
        let key = try key()
        let signer = try PromotionalOfferSigner(key: key, bundleID: "com.example.app")
        let offer = try signer.sign(productID: "p", offerID: "o", for: .applicationUsername("jo"))
        let evidence = """
            {"bundleID": "com.example.app", "productID": "p", "offerID": "o", "applicationUsername": "JO", "keyID": \
            "\(offer.keyID)", "nonce": "\(offer.nonce)", "timestamp": \(offer.timestamp), "signature": "\(offer.signature)"}
            """
        let explanation = try OfferVerifier(keys: [key.publicKey]).explain(json: evidence.utf8)
        #expect(!explanation.isValid && explanation.cause == "letter_case" && explanation.keyID == "ABCDE12345")
        #expect(explanation.findings.first?.field == "applicationUsername")
        #expect(explanation.description.contains("letter case") && explanation.json.contains("\"letter_case\""))
    }

    @Test(
        "evidence that cannot be read is refused by name",
        arguments: [
            ("[]", "json"), ("{}", "appBundleID"), (#"{"compactJWS": 1}"#, "compactJWS"),
            (#"{"signed": ""}"#, "signed"),
        ])
    func unreadable(evidence: String, field: String) throws {
        let verifier = try OfferVerifier(keys: [key().publicKey])
        let error = failure { () throws(SigningFailure) in try verifier.explain(json: evidence.utf8) }
        #expect(error?.code == .invalidField && error?.field?.contains(field) == true, "\(error.debugDescription)")
    }
}

/// A key pair whose signatures have one wrong bit.
private final class FlippingKeyPair: SigningKeyPair {
    private let key: OfferCrypto.SigningKey

    init(_ key: OfferCrypto.SigningKey) { self.key = key }

    var fingerprint: String { key.fingerprint }

    func sign(_ message: [UInt8]) throws -> [UInt8] {
        var signature = try key.sign(message)
        signature[signature.count - 1] ^= 1
        return signature
    }

    func verify(_ signature: [UInt8], of message: [UInt8]) throws -> Bool { try key.verify(signature, of: message) }
}
