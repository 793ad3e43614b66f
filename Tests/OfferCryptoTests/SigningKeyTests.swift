import Foundation
import OfferCrypto
import TestSupport
import Testing

@Suite("Loading a key")
struct SigningKeyTests {
    @Test("a key written by the openssl command is accepted")
    func opensslKey() throws {
        let folder = try TemporaryFolder()
        try openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", "key", in: folder)
        _ = try SigningKey(text: folder.read("key"))
    }

    @Test(
        "a key on another curve is refused with the curve's name",
        arguments: ["secp256k1", "secp384r1", "secp521r1", "brainpoolP256r1"])
    func wrongCurve(curve: String) throws {
        let folder = try TemporaryFolder()
        try openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:\(curve)", "-out", "key", in: folder)
        #expect(throws: SigningKeyError.wrongCurve(curve)) { try SigningKey(text: folder.read("key")) }
    }

    @Test("a key of another algorithm is refused with its name", arguments: [("RSA", "RSA"), ("ED25519", "ED25519")])
    func wrongAlgorithm(option: String, name: String) throws {
        let folder = try TemporaryFolder()
        try openssl("genpkey", "-algorithm", option, "-out", "key", in: folder)
        #expect(throws: SigningKeyError.notEllipticCurve(name)) { try SigningKey(text: folder.read("key")) }
    }

    @Test("an encrypted key is refused without asking for a password")
    func encrypted() throws {
        let folder = try TemporaryFolder()
        try folder.write(PrivateKeyPEM.generate(), to: "key")
        try openssl("pkcs8", "-topk8", "-in", "key", "-out", "new", "-passout", "pass:secret", in: folder)
        #expect(throws: SigningKeyError.encrypted) { try SigningKey(text: folder.read("new")) }
        try openssl(
            "pkcs8", "-topk8", "-in", "key", "-out", "der", "-outform", "DER", "-passout", "pass:secret", in: folder)
        let encoded = Array(try folder.read("der").foundationBase64.utf8)
        #expect(throws: SigningKeyError.self) { try SigningKey(text: encoded) }
        try openssl("ec", "-in", "key", "-out", "old", "-aes128", "-passout", "pass:secret", in: folder)
        #expect(throws: SigningKeyError.encrypted) { try SigningKey(text: folder.read("old")) }
    }

    @Test("a public key is refused with its label")
    func publicKey() throws {
        let folder = try TemporaryFolder()
        try folder.write(PrivateKeyPEM.generate(), to: "key")
        try openssl("pkey", "-in", "key", "-pubout", "-out", "public", in: folder)
        #expect(throws: SigningKeyError.wrongLabel("PUBLIC KEY")) { try SigningKey(text: folder.read("public")) }
    }

    @Test(
        "an error does not repeat a label that might contain a key",
        arguments: ["PRIVATE KEY-----MarkedSecret-----END PRIVATE KEY", "MarkedSecret"])
    func secretAsLabel(label: String) {
        let text = "-----BEGIN \(label)-----\nAAAA\n-----END \(label)-----\n"
        let error = #expect(throws: SigningKeyError.wrongLabel(nil)) { try SigningKey(text: Array(text.utf8)) }
        #expect(error.map { !"\($0)".contains("MarkedSecret") } == true)
    }

    @Test("every supported form of a key is accepted and yields the same key")
    func forms() throws {
        let folder = try TemporaryFolder()
        let pem = try PrivateKeyPEM.generate()
        try folder.write(pem, to: "key")
        try openssl("ec", "-in", "key", "-out", "sec1", in: folder)
        try openssl("ec", "-in", "key", "-outform", "DER", "-out", "sec1.der", in: folder)
        try openssl("ecparam", "-name", "prime256v1", "-out", "parameters", in: folder)
        let publicKey = try SigningKey(text: pem).verifyingKey.der
        let text = String(decoding: pem, as: UTF8.self)
        let sec1 = try folder.read("sec1")
        let forms: [String: [UInt8]] = [
            "Windows line endings": Array(text.replacing("\n", with: "\r\n").utf8),
            "\\n written out": Array(text.replacing("\n", with: "\\n").utf8),
            "\\r\\n written out": Array(text.replacing("\n", with: "\\r\\n").utf8),
            "no final newline": Array(pem.dropLast()),
            "base64 of PEM": Array(pem.foundationBase64.utf8),
            "base64 of PEM in lines": Data(pem).base64EncodedData(options: .lineLength76Characters).map { $0 },
            "base64 of DER": Array(try Self.der(of: pem).foundationBase64.utf8),
            "SEC 1": sec1,
            "SEC 1 after its parameters": try folder.read("parameters") + sec1,
            "base64 of SEC 1": Array(sec1.foundationBase64.utf8),
            "base64 of SEC 1 in DER": Array(try folder.read("sec1.der").foundationBase64.utf8),
        ]
        for (name, form) in forms {
            let found = try? SigningKey(text: form).verifyingKey.der
            #expect(found == publicKey, "\(name)")
        }
    }

    @Test("a key whose halves do not match is refused")
    func mismatchedHalves() throws {
        let one = try Self.der(of: PrivateKeyPEM.generate())
        let other = try Self.der(of: PrivateKeyPEM.generate())
        // The public point is the last 65 bytes of PKCS #8.
        let mixed = Self.pem(of: one.dropLast(65) + other.suffix(65))
        #expect(throws: SigningKeyError.halvesDoNotMatch) { try SigningKey(text: mixed) }
        #expect(throws: Never.self) { try SigningKey(text: Self.pem(of: one.dropLast(65) + one.suffix(65))) }
    }

    @Test("a damaged key is refused, whatever the damage")
    func broken() throws {
        let pem = try PrivateKeyPEM.generate()
        let der = try Self.der(of: pem)
        for text in [
            "", "hello", "-----BEGIN PRIVATE KEY-----\n",
            "-----BEGIN PRIVATE KEY-----\n!!!\n-----END PRIVATE KEY-----\n",
        ] {
            do {
                _ = try SigningKey(text: Array(text.utf8))
                Issue.record("this text was accepted as a key: \(text)")
            } catch {
                guard case .notPEM(let reason) = error else {
                    Issue.record("\(error)")
                    continue
                }
                #expect(
                    (reason?.reasons.isEmpty == false) == text.hasPrefix("-----BEGIN"), "libcrypto's reason is kept")
            }
        }
        for count in stride(from: 0, to: der.count, by: 7) {
            #expect(throws: SigningKeyError.self) { try SigningKey(text: Self.pem(of: der.prefix(count))) }
        }
        #expect(throws: SigningKeyError.self, "bytes after the key") { try SigningKey(text: Self.pem(of: der + [0])) }
        for count in 0..<pem.count - 30 {
            #expect(throws: SigningKeyError.self) { try SigningKey(text: Array(pem.prefix(count))) }
        }
    }

    @Test("no error about a key repeats any part of its text")
    func errorsKeepTheSecret() throws {
        let der = try Self.der(of: PrivateKeyPEM.generate())
        let text = Self.pem(of: der.dropLast(3))
        let secret = String(decoding: text, as: UTF8.self).split(separator: "\n")[1]
        do {
            _ = try SigningKey(text: text)
            Issue.record("a damaged key was accepted")
        } catch {
            for description in ["\(error)", String(reflecting: error)] {
                #expect(!description.contains(secret.prefix(16)))
            }
        }
    }

    private static func der(of pem: [UInt8]) throws -> [UInt8] {
        let lines = String(decoding: pem, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("-----") }
        return [UInt8](try #require(Data(base64Encoded: lines.joined())))
    }

    private static func pem(of der: some Sequence<UInt8>) -> [UInt8] {
        let base64 = Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return Array("-----BEGIN PRIVATE KEY-----\n\(base64)\n-----END PRIVATE KEY-----\n".utf8)
    }
}
