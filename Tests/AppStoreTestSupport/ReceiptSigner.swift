import AppStoreData
import OfferCore
import OfferCrypto
import TestSupport

/// A chain with RSA keys that signs receipts in tests.
struct ReceiptSigner: Sendable {
    let chain: TestChain

    /// The signer of most tests.
    static let standard = Result { try ReceiptSigner() }

    /// Keys shared by all chains, because new ones take long.
    static let keys = Result {
        try (0..<3).map { _ in try TestKey.made(by: "RSA", "rsa_keygen_bits:2048") }
    }

    /// The certificate with which Xcode signs, issued by itself. It has no markers.
    static let xcode = Result { try Xcode() }

    struct Xcode: Sendable {
        let key: TestKey
        let certificate: [UInt8]

        init() throws {
            key = try ReceiptSigner.keys.get()[2]
            let certificate = TestCertificate(
                subject: "StoreKit", issuer: "StoreKit", publicKey: key.publicKey,
                extensions: [.basicConstraints(isCA: true), .keyUsage(0x84)])
            self.certificate = try certificate.signed(by: key)
        }

        func message(_ receipt: TestReceipt) throws -> TestMessage {
            try ReceiptSigner.message(
                receipt.payload, signedBy: key, identifier: ReceiptSigner.identifier(issuer: "StoreKit", 1),
                certificates: [certificate])
        }
    }

    init(
        leafKey: TestKey? = nil, root: (inout TestCertificate) -> Void = { _ in },
        intermediate: (inout TestCertificate) -> Void = { _ in }, leaf: (inout TestCertificate) -> Void = { _ in }
    ) throws {
        let keys = try Self.keys.get()
        chain = try TestChain(
            rootKey: keys[0], intermediateKey: keys[1], leafKey: leafKey ?? keys[2], root: root,
            intermediate: intermediate, leaf: leaf)
    }

    init(chain: TestChain) { self.chain = chain }

    var certificates: [[UInt8]] { [chain.leaf, chain.intermediate, chain.root] }

    func message(_ receipt: TestReceipt) throws -> TestMessage { try message(content: receipt.payload) }

    /// A receipt as a device sends it, signed by the standard signer.
    static func base64(_ receipt: TestReceipt) throws -> String {
        String(decoding: Base64.text(of: try standard.get().message(receipt).encoded), as: UTF8.self)
    }

    /// A message with the bytes of any content, signed without attributes.
    func message(content: [UInt8], digest: String = "sha256") throws -> TestMessage {
        try Self.message(
            content, signedBy: chain.leafKey, identifier: Self.identifier(issuer: "Test Developer Relations CA", 1),
            certificates: certificates, digest: digest)
    }

    /// A message with signed attributes.
    func message(_ receipt: TestReceipt, attributes: [[UInt8]]) throws -> TestMessage {
        var message = try message(content: receipt.payload)
        message.signers[0].attributes = attributes
        message.signers[0].signature = try chain.leafKey.sign(DER.set(attributes.flatMap { $0 }))
        return message
    }

    /// The attributes that RFC 5652 section 11 demands, in the order of DER.
    static func attributes(
        of content: [UInt8], contentType: String = TestMessage.OID.data
    ) throws -> [[UInt8]] {
        [
            TestMessage.attribute(TestMessage.OID.contentType, DER.oid(contentType)),
            TestMessage.attribute(TestMessage.OID.messageDigest, DER.octetString(try SHA256.hash(content))),
        ]
    }

    /// IssuerAndSerialNumber.
    static func identifier(issuer: String, _ serialNumber: Int) -> [UInt8] {
        let name = DER.sequence(DER.set(DER.sequence(DER.oid("2.5.4.3"), DER.utf8String(issuer))))
        return DER.sequence(name, DER.integer(serialNumber))
    }

    private static func message(
        _ content: [UInt8], signedBy key: TestKey, identifier: [UInt8], certificates: [[UInt8]],
        digest: String = "sha256"
    ) throws -> TestMessage {
        let signer = TestMessage.Signer(
            identifier: identifier, digest: digest == "sha1" ? TestMessage.OID.sha1 : TestMessage.OID.sha256,
            signature: try key.sign(content, digest))
        return TestMessage(content: content, certificates: certificates, signers: [signer])
    }
}

extension ReceiptVerifier {
    /// - Parameter roots: certificates in DER.
    init(trusting roots: [[UInt8]], isDevelopment: Bool = false) throws {
        try self.init(
            roots: TrustedRoots(roots.map { try X509Certificate(der: $0) }), isDevelopment: isDevelopment)
    }

    /// - Parameter message: signed by a chain with the standard root.
    static func verify(
        _ message: TestMessage, at seconds: Int64 = TestTime.now, device: DeviceIdentifier? = nil
    ) throws -> VerifiedReceipt {
        let verifier = try ReceiptVerifier(trusting: [ReceiptSigner.standard.get().chain.root])
        return try verifier.verify(message.encoded, at: Timestamp(milliseconds: seconds * 1000), device: device)
    }
}
