import AppStoreData
import OfferCrypto
import TestSupport

@testable import AppStoreTestSupport

extension ReceiptForgery {
    /// Bytes that are not one message of a reasonable shape.
    static let shapes: [ReceiptForgery] = [
        .bytes("nothing", .receiptNotSignedData) { _ in [] },
        .bytes("text", .receiptNotSignedData) { _ in Array("{\"receipt\":1}".utf8) },
        .bytes("zeros", .receiptTrailingBytes) { _ in [UInt8](repeating: 0, count: 100) },
        .bytes("a message without its last byte", .receiptNotSignedData) { signer in
            try signer.message(TestReceipt()).encoded.dropLast()
        },
        .bytes("a byte after the message", .receiptTrailingBytes) { try $0.message(TestReceipt()).encoded + [0] },
        .bytes("a second message after the message", .receiptTrailingBytes) { signer in
            let message = try signer.message(TestReceipt()).encoded
            return message + message
        },
        .bytes("an end-of-contents marker too many", .receiptTrailingBytes) { signer in
            var message = try signer.message(TestReceipt())
            message.encoding = .ber(segment: 100)
            return message.encoded + [0, 0]
        },
        .bytes("an end-of-contents marker too few", .receiptNotSignedData) { signer in
            var message = try signer.message(TestReceipt())
            message.encoding = .ber(segment: 100)
            return message.encoded.dropLast(2)
        },
        .bytes("a byte more than the maximum size", .receiptTooLarge) { signer in
            let content = [UInt8](repeating: 0, count: SignedMessage.maximumSize)
            return try signer.message(content: content).encoded
        },
        .bytes("10 MB of nested elements", .receiptTooLarge) { _ in
            [UInt8](repeating: 0x30, count: 10_000_000)
        },
        .bytes("17 nested elements", .receiptTooComplex) { _ in
            (0..<17).reduce([]) { nested, _ in DER.value(0x30, nested) }
        },
        .bytes("half a million nested elements of indefinite length", .receiptTooComplex) { _ in
            (0..<524_288).flatMap { _ in [0x30, 0x80] as [UInt8] }
        },
        .bytes("content in strings nested in strings", .receiptTooComplex) { signer in
            let content = (0..<17).reduce(DER.octetString([1])) { nested, _ in BER.indefinite(0x24, nested) }
            return BER.indefinite(0x30, DER.oid(TestMessage.OID.signedData) + BER.indefinite(0xA0, content))
        },
        .bytes("half a million empty segments of content", .receiptTooComplex) { signer in
            let content = (0..<500_000).flatMap { _ in [0x04, 0x00] as [UInt8] }
            return BER.indefinite(0x30, BER.indefinite(0x24, content))
        },
        .bytes("a thousand digest algorithms", .receiptTooComplex) { signer in
            var message = try signer.message(TestReceipt())
            message.digestAlgorithms = [[UInt8]](
                repeating: DER.sequence(DER.oid(TestMessage.OID.sha512), DER.null), count: 2000)
            return message.encoded
        },
        .bytes("a length of 4 GiB", .receiptNotSignedData) { _ in [0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF, 0x00] },
        .bytes("a length of eight bytes", .receiptNotSignedData) { _ in
            [0x30, 0x88, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x00]
        },
        .bytes("an element longer than the one around it", .receiptNotSignedData) { _ in
            [0x30, 0x03, 0x04, 0x05, 0, 0, 0]
        },
        .bytes("an indefinite length without elements inside", .receiptNotSignedData) { _ in [0x04, 0x80, 0, 0] },
        .bytes("a tag of several bytes", .receiptNotSignedData) { _ in [0x3F, 0x81, 0x01, 0x00] },
    ]

    /// Messages of another kind.
    static let messages: [ReceiptForgery] = [
        .bytes("a message of the type data", .receiptNotSignedData) { _ in
            DER.sequence(DER.oid(TestMessage.OID.data), DER.value(0xA0, DER.octetString(TestReceipt().payload)))
        },
        .message("a message that calls itself digested data", .receiptNotSignedData) { message, _ in
            message.type = TestMessage.OID.digestedData
        },
        .message("another content type", .receiptContentType) { message, _ in
            message.contentType = TestMessage.OID.digestedData
        },
        .message("a message in the message", .receiptContentType) { message, _ in
            message.contentType = TestMessage.OID.signedData
        },
        .message("detached content", .receiptDetached) { message, _ in message.isDetached = true },
        .message("no signer", .receiptSignerCount) { message, _ in message.signers = [] },
        .message("two signers", .receiptSignerCount) { message, _ in message.signers += message.signers },
        .message("a second signer whose signature is wrong", .receiptSignerCount) { message, _ in
            var other = message.signers[0]
            other.signature[0] ^= 1
            message.signers.append(other)
        },
        .message("a signer named by key identifier", .receiptSignerCertificate) { message, _ in
            message.signers[0].identifier = DER.value(0x80, [3])
            message.signers[0].version = 3
        },
        .message("a signer with another serial number", .receiptSignerCertificate) { message, _ in
            message.signers[0].identifier = ReceiptSigner.identifier(issuer: "Test Developer Relations CA", 2)
        },
        .message("a signer with another issuer", .receiptSignerCertificate) { message, _ in
            message.signers[0].identifier = ReceiptSigner.identifier(issuer: "Developer Relations CA", 1)
        },
        .message("no certificates", .receiptSignerCertificate) { message, _ in message.certificates = [] },
        .message("no certificate of the signer", .receiptSignerCertificate) { message, _ in
            message.certificates.removeFirst()
        },
        .message("the signer's certificate twice", .receiptSignerCertificate) { message, signer in
            message.certificates.append(signer.chain.leaf)
        },
        .message("two certificates with the signer's issuer and serial number", .receiptSignerCertificate) {
            message, _ in
            let other = try ReceiptSigner {
                $0.subject = "Other"
            } leaf: {
                $0.subject = "Other"
            }
            message.certificates.append(other.chain.leaf)
        },
        .message("nine certificates", .receiptCertificateCount) { message, signer in
            message.certificates += [[UInt8]](repeating: signer.chain.root, count: 6)
        },
        .message("a certificate with an extension twice", .certificateUnreadable) { message, signer in
            let other = try ReceiptSigner(leaf: {
                $0.serialNumber = 2
                $0.extensions.append(.keyUsage(0x80))
            })
            message.certificates.append(other.chain.leaf)
        },
    ]

    /// Keys, algorithms and signatures.
    static let algorithms: [ReceiptForgery] = [
        .message("content changed after signing", .signatureInvalid) { message, _ in
            message.content[message.content.count / 2] ^= 1
        },
        .message("content with an attribute added after signing", .signatureInvalid) { message, _ in
            message.content = TestReceipt(purchases: [TestReceipt.Purchase()]).payload
        },
        .message("a signature with one bit changed", .signatureInvalid) { message, _ in
            message.signers[0].signature[255] ^= 1
        },
        .message("an empty signature", .signatureInvalid) { message, _ in message.signers[0].signature = [] },
        .message("a signature of zeros", .signatureInvalid) { message, _ in
            message.signers[0].signature = [UInt8](repeating: 0, count: 256)
        },
        .message("a signature with a byte too many", .signatureInvalid) { message, _ in
            message.signers[0].signature.append(0)
        },
        .message("a signature by another key", .signatureInvalid) { message, signer in
            message.signers[0].signature = try signer.chain.intermediateKey.sign(message.content)
        },
        .message("a signature over SHA-1 that claims SHA-256", .signatureInvalid) { message, signer in
            message.signers[0].signature = try signer.chain.leafKey.sign(message.content, "sha1")
        },
        .message("a signature over SHA-256 that claims SHA-1", .signatureInvalid) { message, _ in
            message.signers[0].digest = TestMessage.OID.sha1
        },
        .message("SHA-1 with an algorithm that names SHA-256", .receiptAlgorithm) { message, signer in
            message.signers[0].digest = TestMessage.OID.sha1
            message.signers[0].signatureAlgorithm = TestMessage.OID.sha256WithRSA
            message.signers[0].signature = try signer.chain.leafKey.sign(message.content, "sha1")
        },
        .message("SHA-512", .receiptAlgorithm) { message, signer in
            message.signers[0].digest = TestMessage.OID.sha512
            message.signers[0].signature = try signer.chain.leafKey.sign(message.content, "sha512")
        },
        .message("MD5", .receiptAlgorithm) { message, signer in
            message.signers[0].digest = "1.2.840.113549.2.5"
            message.signers[0].signature = try signer.chain.leafKey.sign(message.content, "md5")
        },
        .message("RSASSA-PSS", .receiptAlgorithm) { message, _ in
            message.signers[0].signatureAlgorithm = "1.2.840.113549.1.1.10"
        },
        .message("ECDSA", .receiptAlgorithm) { message, _ in
            message.signers[0].signatureAlgorithm = "1.2.840.10045.4.3.2"
        },
        .chain("a leaf with a P-256 key", .receiptSignerKey) { try ReceiptSigner(leafKey: .p256()) },
        .chain("a leaf with a key for RSASSA-PSS", .receiptSignerKey) {
            try ReceiptSigner(leafKey: .made(by: "RSA-PSS", "rsa_keygen_bits:2048"))
        },
        .chain("a leaf with an RSA key of 1024 bits", .receiptSignerKey) {
            try ReceiptSigner(leafKey: .made(by: "RSA", "rsa_keygen_bits:1024"))
        },
        .chain("a leaf with a huge RSA modulus", .receiptSignerKey) {
            let key = try ReceiptSigner.keys.get()[2]
            return try ReceiptSigner(leafKey: key.withPublicKey(rsa(modulusSize: 2048, exponent: [1, 0, 1])))
        },
        .chain("a leaf with a huge RSA exponent", .receiptSignerKey) {
            let key = try ReceiptSigner.keys.get()[2]
            let exponent: [UInt8] = [0x02] + [UInt8](repeating: 0, count: 7) + [1]
            return try ReceiptSigner(leafKey: key.withPublicKey(rsa(modulusSize: 256, exponent: exponent)))
        },
    ]

    /// SubjectPublicKeyInfo with an odd modulus that nobody can factor by design.
    private static func rsa(modulusSize: Int, exponent: [UInt8]) -> [UInt8] {
        let modulus = [0x00, 0xC1] + [UInt8](repeating: 0x5B, count: modulusSize - 1)
        let key = DER.sequence(DER.value(0x02, modulus), DER.value(0x02, exponent))
        return DER.sequence(DER.sequence(DER.oid(TestMessage.OID.rsaEncryption), DER.null), DER.bitString(key))
    }

    /// Signed attributes that lie.
    static let attributes: [ReceiptForgery] = [
        .signed("attributes with the digest of other content", .signatureInvalid) { content in
            try ReceiptSigner.attributes(of: content + [0])
        },
        .signed("attributes with the SHA-1 digest", .signatureInvalid) { content in
            let digest = DER.octetString(try SHA1.hash(content))
            return [contentType, TestMessage.attribute(TestMessage.OID.messageDigest, digest)]
        },
        .signed("attributes with an empty digest", .signatureInvalid) { _ in
            [contentType, TestMessage.attribute(TestMessage.OID.messageDigest, DER.octetString([]))]
        },
        .signed("attributes without a digest", .signatureInvalid) { _ in [contentType] },
        .signed("attributes with the digest twice", .signatureInvalid) { content in
            let attributes = try ReceiptSigner.attributes(of: content)
            return attributes + [attributes[1]]
        },
        .signed("attributes with two digests in one", .signatureInvalid) { content in
            let digest = DER.octetString(try SHA256.hash(content))
            return [contentType, TestMessage.attribute(TestMessage.OID.messageDigest, digest, digest)]
        },
        .signed("attributes without a content type", .receiptSignedAttributes) { content in
            [try ReceiptSigner.attributes(of: content)[1]]
        },
        .signed("attributes with another content type", .receiptSignedAttributes) { content in
            try ReceiptSigner.attributes(of: content, contentType: TestMessage.OID.signedData)
        },
        .signed("attributes with the content type twice", .receiptSignedAttributes) { content in
            [contentType] + (try ReceiptSigner.attributes(of: content))
        },
        .signed("attributes with two content types in one", .receiptSignedAttributes) { content in
            let types = DER.oid(TestMessage.OID.data) + DER.oid(TestMessage.OID.signedData)
            return [
                TestMessage.attribute(TestMessage.OID.contentType, types),
                try ReceiptSigner.attributes(of: content)[1],
            ]
        },
        .signed("no attributes at all in a set of attributes", .receiptSignedAttributes) { _ in [] },
        .message("attributes added to a signature over the content", .signatureInvalid) { message, _ in
            message.signers[0].attributes = try ReceiptSigner.attributes(of: message.content)
        },
        .message("attributes changed after signing", .signatureInvalid) { message, signer in
            message = try signer.message(TestReceipt(), attributes: ReceiptSigner.attributes(of: message.content))
            let time = DER.value(0x17, Array("250615150640Z".utf8))
            message.signers[0].attributes?.append(TestMessage.attribute(TestMessage.OID.signingTime, time))
        },
        .message("attributes removed after signing", .signatureInvalid) { message, signer in
            message = try signer.message(TestReceipt(), attributes: ReceiptSigner.attributes(of: message.content))
            message.signers[0].attributes = nil
        },
        .message("content changed under signed attributes", .signatureInvalid) { message, signer in
            message = try signer.message(TestReceipt(), attributes: ReceiptSigner.attributes(of: message.content))
            message.content[message.content.count - 1] ^= 1
        },
        ReceiptForgery(
            "signed attributes presented as content", .payload(ReceiptPayloadError(.notAttribute(.wrongTag)))
        ) { signer in
            let attributes = try ReceiptSigner.attributes(of: TestReceipt().payload)
            var message = try signer.message(TestReceipt(), attributes: attributes)
            message.content = DER.set(attributes.flatMap { $0 })
            message.signers[0].attributes = nil
            return Attempt(receipt: message.encoded)
        },
    ]

    private static let contentType = TestMessage.attribute(TestMessage.OID.contentType, DER.oid(TestMessage.OID.data))

    /// A receipt with attributes that the signer signed.
    private static func signed(
        _ name: String, _ code: VerificationFailure.Code,
        _ attributes: @escaping @Sendable (_ content: [UInt8]) throws -> [[UInt8]]
    ) -> ReceiptForgery {
        bytes(name, code) { signer in
            try signer.message(TestReceipt(), attributes: attributes(TestReceipt().payload)).encoded
        }
    }
}
