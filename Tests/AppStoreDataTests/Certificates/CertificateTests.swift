import AppStoreData
import OfferCrypto
import OfferEligibility
import TestSupport
import Testing

@testable import AppStoreTestSupport

@Suite("X.509 certificates")
struct CertificateTests {
    private let chain: TestChain

    init() throws { chain = try TestChain.standard.get() }

    @Test("only one whole certificate in DER is read")
    func strict() throws {
        #expect(try X509Certificate(der: chain.leaf).der == chain.leaf)
        #expect(throws: CertificateError.trailingBytes) { try X509Certificate(der: chain.leaf + [0]) }
        #expect(throws: CertificateError.trailingBytes) { try X509Certificate(der: chain.leaf + chain.leaf) }
        #expect(throws: CertificateError.notDER) {
            try X509Certificate(der: [0x30, 0x83, 0x00] + chain.leaf.dropFirst(2))
        }
        #expect(throws: CertificateError.tooLarge) {
            try X509Certificate(der: [UInt8](repeating: 0, count: X509Certificate.maximumSize + 1))
        }
        for count in 0..<chain.leaf.count {
            #expect(throws: CertificateError.self) { try X509Certificate(der: Array(chain.leaf.prefix(count))) }
        }
    }

    @Test(
        "the times are those of the certificate",
        arguments: [0, 951_782_399, 1_709_164_800, 2_524_607_999, 2_524_608_000, 253_402_300_799] as [Int64])
    func times(seconds: Int64) throws {
        var certificate = TestChain.leaf(chain.leafKey)
        (certificate.notBefore, certificate.notAfter) = (seconds, seconds)
        let parsed = try X509Certificate(der: certificate.signed(by: chain.leafKey))
        #expect(parsed.notBefore == seconds && parsed.notAfter == seconds)
    }

    @Test("names and serial numbers are text that is safe to print")
    func text() throws {
        var certificate = TestChain.leaf(chain.leafKey)
        certificate.subject = "A,\n\u{1B}[31mé" + String(repeating: "x", count: 2000)
        certificate.serialNumber = 0x80AB
        let parsed = try X509Certificate(der: certificate.signed(by: chain.leafKey))
        #expect(parsed.subject.hasPrefix(#"CN=A\,\0A\1B[31m\C3\A9xxx"#) && parsed.subject.utf8.count == 512)
        #expect(parsed.issuer == "CN=Test Developer Relations CA")
        #expect(parsed.serialNumber == "80ab")
    }

    @Test("the responders' URLs come from the authority information access")
    func ocsp() throws {
        func location(_ method: String, _ url: String) -> [UInt8] {
            DER.sequence(DER.oid(method), DER.value(0x86, Array(url.utf8)))
        }
        var certificate = TestChain.leaf(chain.leafKey)
        certificate.put(
            .init(
                oid: "1.3.6.1.5.5.7.1.1",
                value: DER.sequence(
                    location("1.3.6.1.5.5.7.48.2", "http://example.com/ca"),
                    location("1.3.6.1.5.5.7.48.1", "http://example.com/ocsp1"),
                    location("1.3.6.1.5.5.7.48.1", "http://example.com/ocsp2"))))
        let parsed = try X509Certificate(der: certificate.signed(by: chain.leafKey))
        #expect(parsed.ocspURLs == ["http://example.com/ocsp1", "http://example.com/ocsp2"])
        #expect(try X509Certificate(der: chain.leaf).ocspURLs.isEmpty)
    }

    @Test("a file of roots is PEM with any number of certificates, or one in DER")
    func files() throws {
        #expect(try X509Certificate.readAll(chain.root).map(\.der) == [chain.root])
        let pem = try [chain.root, chain.leaf].map { try OpenSSL.run(["x509", "-inform", "DER"], input: $0) }
        let text = "subject: 1\n" + pem[0] + "\ntext\n" + pem[1]
        #expect(try X509Certificate.readAll(Array(text.utf8)).map(\.der) == [chain.root, chain.leaf])
        let key = try OpenSSL.run(["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"])
        #expect(try X509Certificate.readAll(Array((key + pem[0]).utf8)).map(\.der) == [chain.root])
        for nothing in ["", "text", key] { #expect(try X509Certificate.readAll(Array(nothing.utf8)).isEmpty) }
        let many = String(repeating: pem[0], count: X509Certificate.maximumCount + 5)
        #expect(try X509Certificate.readAll(Array(many.utf8)).count == X509Certificate.maximumCount)
        #expect(throws: CertificateError.self) { try X509Certificate.readAll(chain.root.dropLast()) }
        let broken = "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n"
        #expect(throws: CertificateError.self) { try X509Certificate.readAll(Array((pem[0] + broken).utf8)) }
    }
}

@Suite("SHA-1 below old receipts")
struct SHA1ChainTests {
    private static func verify(_ chain: TestChain, allowsSHA1: Bool) throws -> X509Certificate {
        try CertificateChain.verify(
            leaf: X509Certificate(der: chain.leaf), intermediate: X509Certificate(der: chain.intermediate),
            roots: [X509Certificate(der: chain.root)], at: TestTime.now, allowsSHA1: allowsSHA1)
    }

    private static func chain(
        _ digest: String, _ algorithm: String = "RSA", _ option: String = "rsa_keygen_bits:2048"
    ) throws -> TestChain {
        try TestChain(
            rootKey: .made(by: algorithm, option), intermediateKey: .made(by: algorithm, option),
            root: { $0.digest = digest }, intermediate: { $0.digest = digest }, leaf: { $0.digest = digest })
    }

    @Test("SHA-1 with RSA is accepted only where it is allowed")
    func rsa() throws {
        let chain = try Self.chain("sha1")
        #expect(try Self.verify(chain, allowsSHA1: true).der == chain.root)
        #expect(throws: ChainError.weakSignature(.leaf)) { try Self.verify(chain, allowsSHA1: false) }
    }

    @Test("neither MD5, nor SHA-1 with ECDSA, nor short keys are ever accepted")
    func others() throws {
        let md5 = try Self.chain("md5")
        #expect(throws: ChainError.weakSignature(.leaf)) { try Self.verify(md5, allowsSHA1: true) }
        let ecdsa = try Self.chain("sha1", "EC", "ec_paramgen_curve:P-256")
        #expect(throws: ChainError.weakSignature(.leaf)) { try Self.verify(ecdsa, allowsSHA1: true) }
        let short = try Self.chain("sha1", "RSA", "rsa_keygen_bits:1024")
        #expect(throws: ChainError.weakKey(.intermediate)) { try Self.verify(short, allowsSHA1: true) }
    }

    @Test("a root may have signed itself with SHA-1, as Apple's first one has")
    func root() throws {
        let key = try TestKey.made(by: "RSA", "rsa_keygen_bits:2048")
        let chain = try TestChain(rootKey: key, root: { $0.digest = "sha1" })
        #expect(try Self.verify(chain, allowsSHA1: false).der == chain.root)
    }
}

@Suite("Sentences of refusals")
struct VerificationFailureTests {
    @Test("each code has a sentence", arguments: VerificationFailure.Code.allCases)
    func sentences(code: VerificationFailure.Code) {
        for role in [nil, .leaf] as [CertificateRole?] {
            let sentence = VerificationFailure(code, role).sentence
            #expect(sentence.first?.isUppercase == true && sentence.hasSuffix("."))
        }
        #expect(code.rawValue.allSatisfy { $0.isLowercase || $0.isNumber || $0 == "_" })
    }

    @Test("each code is that of a forged JWS or receipt", arguments: VerificationFailure.Code.allCases)
    func covered(code: VerificationFailure.Code) {
        // Nothing that a sender controls makes libcrypto fail or object in its own words. Revocation and dates in the future, or long past, have
        // their own tests.
        let exempt: Set<VerificationFailure.Code> = [
            .chainRefused, .verificationUnavailable, .certificateRevoked, .revocationUnknown, .signedInFuture,
            .signedTooLongAgo,
        ]
        let isReceipts = ReceiptForgery.all.contains { $0.failure.code == code.rawValue }
        #expect(exempt.contains(code) || isReceipts || Forgery.all.contains { $0.code == code })
    }
}
