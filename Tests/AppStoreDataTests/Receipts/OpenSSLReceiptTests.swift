import AppStoreData
import Foundation
import OfferCore
import OfferCrypto
import OfferEligibility
import TestSupport
import Testing

@testable import AppStoreTestSupport

extension ReceiptTests {
    /// Receipts that the `openssl` command signs, with a chain that it made too. Our own encoder has no part in them.
    @Suite("App receipts made by openssl", .serialized)
    struct OpenSSLReceiptTests {
        @Test(
            "messages of openssl cms are accepted",
            arguments: [
                ["-noattr"], [], ["-noattr", "-md", "sha1"], ["-md", "sha1"], ["-noattr", "-stream"], ["-stream"],
                ["-nosmimecap"],
            ])
        func accepted(options: [String]) throws {
            let issuer = try OpenSSLIssuer.shared.get()
            var receipt = TestReceipt(purchases: (0..<20).map { TestReceipt.Purchase(transactionID: String($0)) })
            receipt.put(.date(12, try issuer.creationDate))
            let message = try issuer.sign(receipt.payload, options)
            #expect(options.contains("-stream") == message.starts(with: [0x30, 0x80]))
            #expect(try issuer.verify(message).receipt.purchases.count == 20)
        }

        @Test(
            "other messages of openssl cms are refused",
            arguments: [
                (["-noattr", "-keyid"], .receiptSignerCertificate),
                (["-noattr", "-nocerts"], .receiptSignerCertificate),
                (["-econtent_type", "1.2.3.4"], .receiptContentType), (["-md", "sha512"], .receiptAlgorithm),
                (["-keyopt", "rsa_padding_mode:pss"], .receiptAlgorithm),
            ] as [([String], VerificationFailure.Code)])
        func refused(options: [String], code: VerificationFailure.Code) throws {
            let issuer = try OpenSSLIssuer.shared.get()
            let message = try issuer.sign(TestReceipt().payload, options)
            #expect(throws: ReceiptFailure.notVerified(VerificationFailure(code))) { try issuer.verify(message) }
        }

        @Test("detached content and a second signer of openssl cms are refused")
        func shapes() throws {
            let issuer = try OpenSSLIssuer.shared.get()
            let detached = try issuer.sign(TestReceipt().payload, [], isDetached: true)
            #expect(throws: ReceiptFailure.notVerified(VerificationFailure(.receiptDetached))) {
                try issuer.verify(detached)
            }
            let two = try issuer.cms(
                [
                    "-sign", "-nodetach", "-signer", issuer.file("leaf.pem"), "-inkey", issuer.file("leaf.key"),
                    "-signer", issuer.file("intermediate.pem"), "-inkey", issuer.file("intermediate.key"),
                ], on: TestReceipt().payload)
            #expect(throws: ReceiptFailure.notVerified(VerificationFailure(.receiptSignerCount))) {
                try issuer.verify(two)
            }
        }

        @Test("an encrypted message and a digested one are refused")
        func otherKinds() throws {
            let issuer = try OpenSSLIssuer.shared.get()
            let encrypted = try issuer.cms(
                ["-encrypt", "-aes128", issuer.file("leaf.pem")], on: TestReceipt().payload)
            let digested = try issuer.cms(["-digest_create"], on: TestReceipt().payload)
            for message in [encrypted, digested] {
                #expect(throws: ReceiptFailure.notVerified(VerificationFailure(.receiptNotSignedData))) {
                    try issuer.verify(message)
                }
            }
        }

        @Test("openssl cms verifies the messages that our tests make", arguments: [false, true])
        func encoderIsRight(isBER: Bool) throws {
            let signer = try ReceiptSigner.standard.get()
            let receipt = TestReceipt(purchases: [TestReceipt.Purchase()])
            var message = try signer.message(receipt, attributes: ReceiptSigner.attributes(of: receipt.payload))
            if isBER { message.encoding = .ber(segment: 50) }
            let folder = try TemporaryFolder()
            try folder.write(message.encoded, to: "message")
            try OpenSSL.run(
                [
                    "cms", "-verify", "-noverify", "-binary", "-inform", "DER", "-in", folder.path + "/message", "-out",
                    folder.path + "/content",
                ])
            #expect(try folder.read("content") == receipt.payload)
        }
    }
}

/// A chain that `openssl req` and `openssl x509` made.
private struct OpenSSLIssuer: Sendable {
    static let shared = Result { try OpenSSLIssuer() }

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try folder.write(Array(Self.extensions.utf8), to: "extensions")
        try make("root", "ca", issuer: nil)
        try make("intermediate", "wwdr", issuer: "root")
        try make("leaf", "leaf", issuer: "intermediate")
        try folder.write(folder.read("intermediate.pem") + folder.read("root.pem"), to: "others.pem")
    }

    func file(_ name: String) -> String { folder.path + "/" + name }

    /// - Returns: CMS in DER or BER.
    func sign(_ content: [UInt8], _ options: [String], isDetached: Bool = false) throws -> [UInt8] {
        try cms(
            ["-sign", "-signer", file("leaf.pem"), "-inkey", file("leaf.key"), "-certfile", file("others.pem")]
                + (isDetached ? [] : ["-nodetach"]) + options, on: content)
    }

    func cms(_ command: [String], on content: [UInt8]) throws -> [UInt8] {
        try folder.write(content, to: "content")
        // A recipient's certificate comes last.
        let recipient = command.first == "-encrypt" ? Array(command.suffix(1)) : []
        try OpenSSL.run(
            ["cms"] + command.dropLast(recipient.count)
                + ["-binary", "-in", file("content"), "-outform", "DER", "-out", file("message")] + recipient)
        return try folder.read("message")
    }

    /// The time when openssl made the leaf, which is valid since then.
    var creationDate: String {
        get throws {
            let leaf = try X509Certificate.readAll(folder.read("leaf.pem"))
            return String(
                decoding: Timestamp(milliseconds: leaf[0].notBefore * 1000).iso8601, as: UTF8.self)
        }
    }

    func verify(_ message: [UInt8]) throws -> VerifiedReceipt {
        let root = try X509Certificate.readAll(folder.read("root.pem"))
        let verifier = ReceiptVerifier(roots: TrustedRoots(root))
        return try verifier.verify(message, at: Timestamp(milliseconds: TestTime.now * 1000))
    }

    private func make(_ name: String, _ section: String, issuer: String?) throws {
        try OpenSSL.run(
            [
                "req", "-new", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=OpenSSL \(name)/O=Test", "-keyout",
                file(name + ".key"), "-out", file(name + ".csr"),
            ])
        let signer =
            issuer.map { ["-CA", file($0 + ".pem"), "-CAkey", file($0 + ".key")] } ?? ["-signkey", file(name + ".key")]
        try OpenSSL.run(
            [
                "x509", "-req", "-in", file(name + ".csr"), "-extfile", file("extensions"), "-extensions", section,
                "-set_serial", "17", "-days", "10", "-out", file(name + ".pem"),
            ] + signer)
    }

    private static let extensions = """
        [ca]
        basicConstraints = critical,CA:true
        keyUsage = critical,keyCertSign,cRLSign
        [wwdr]
        basicConstraints = critical,CA:true,pathlen:0
        keyUsage = critical,keyCertSign,cRLSign
        1.2.840.113635.100.6.2.1 = ASN1:NULL
        [leaf]
        keyUsage = critical,digitalSignature
        1.2.840.113635.100.6.11.1 = ASN1:NULL

        """
}
