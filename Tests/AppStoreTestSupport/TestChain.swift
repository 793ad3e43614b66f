import OfferCore
import OfferCrypto

/// A chain like Apple's, made for tests, and what it signs.
struct TestChain: Sendable {
    var rootKey: TestKey
    var intermediateKey: TestKey
    var leafKey: TestKey
    /// The certificates in DER.
    var root: [UInt8]
    var intermediate: [UInt8]
    var leaf: [UInt8]

    /// The chain of most tests, with keys on P-256.
    static let standard = Result { try TestChain() }

    /// Makes a chain and changes its certificates before they are signed.
    init(
        rootKey: TestKey? = nil, intermediateKey: TestKey? = nil, leafKey: TestKey? = nil,
        root: (inout TestCertificate) -> Void = { _ in }, intermediate: (inout TestCertificate) -> Void = { _ in },
        leaf: (inout TestCertificate) -> Void = { _ in }
    ) throws {
        self.rootKey = try rootKey ?? .p256()
        self.intermediateKey = try intermediateKey ?? .p256()
        self.leafKey = try leafKey ?? .p256()
        var certificates = (
            Self.root(self.rootKey), Self.intermediate(self.intermediateKey), Self.leaf(self.leafKey)
        )
        root(&certificates.0)
        intermediate(&certificates.1)
        leaf(&certificates.2)
        self.root = try certificates.0.signed(by: self.rootKey)
        self.intermediate = try certificates.1.signed(by: self.rootKey)
        self.leaf = try certificates.2.signed(by: self.intermediateKey)
    }

    static func root(_ key: TestKey) -> TestCertificate {
        TestCertificate(
            subject: "Test Root CA", issuer: "Test Root CA", publicKey: key.publicKey,
            extensions: [.subjectKeyIdentifier([1]), .basicConstraints(isCA: true), .keyUsage(0x06)])
    }

    static func intermediate(_ key: TestKey) -> TestCertificate {
        TestCertificate(
            subject: "Test Developer Relations CA", issuer: "Test Root CA", publicKey: key.publicKey,
            extensions: [
                .subjectKeyIdentifier([2]), .authorityKeyIdentifier([1]),
                .basicConstraints(isCA: true, pathLength: 0), .keyUsage(0x06),
                .marker(AppleMarker.developerRelations),
            ])
    }

    static func leaf(_ key: TestKey) -> TestCertificate {
        TestCertificate(
            subject: "Test Receipt Signing", issuer: "Test Developer Relations CA", publicKey: key.publicKey,
            extensions: [
                .subjectKeyIdentifier([3]), .authorityKeyIdentifier([2]), .basicConstraints(isCA: false),
                .keyUsage(0x80), .marker(AppleMarker.receiptSigner),
            ])
    }

    /// The header of a JWS with the three certificates.
    var header: String { header(x5c: [leaf, intermediate, root]) }

    /// - Parameter rest: members to add, such as `,"kid":"1"`.
    func header(x5c: [[UInt8]], alg: String = #""ES256""#, rest: String = "") -> String {
        let certificates = x5c.map { "\"" + String(decoding: Base64.text(of: $0), as: UTF8.self) + "\"" }
        return #"{"alg":\#(alg),"x5c":[\#(certificates.joined(separator: ","))]\#(rest)}"#
    }

    /// A payload like that of a transaction, signed at ``TestTime/now``.
    static let payload = #"{"bundleId":"com.example.app","signedDate":\#(TestTime.now)000}"#

    /// - Parameter key: the leaf's key if nil.
    func jws(header: String? = nil, payload: String = payload, key: TestKey? = nil) throws -> [UInt8] {
        try jws(header: Array((header ?? self.header).utf8), payload: Array(payload.utf8), key: key)
    }

    /// A payload as a compact JWS.
    func jws(_ payload: SamplePayload) throws -> String {
        String(decoding: try jws(payload: payload.text), as: UTF8.self)
    }

    func jws(header: [UInt8], payload: [UInt8], key: TestKey? = nil) throws -> [UInt8] {
        let input = Base64URL.text(of: header) + [UInt8(ascii: ".")] + Base64URL.text(of: payload)
        return input + [UInt8(ascii: ".")] + Base64URL.text(of: try (key ?? leafKey).signRaw(input))
    }
}
