import Foundation
import OfferCore
import OfferCrypto
import TestSupport

/// A key pair that signs certificates and JWS in tests.
struct TestKey: Sendable {
    /// Makes a signature over a message with an algorithm, such as `sha256`.
    private let makeSignature: @Sendable (_ message: [UInt8], _ digest: String) throws -> [UInt8]
    /// SubjectPublicKeyInfo in ASN.1 DER.
    let publicKey: [UInt8]
    let isRSA: Bool

    /// A P-256 key, which signs SHA-256 digests inside this process.
    /// - Parameter pem: the private key in PEM; nil for a new one.
    static func p256(pem: [UInt8]? = nil) throws -> TestKey {
        let key = try SigningKey(text: pem ?? PrivateKeyPEM.generate())
        return TestKey(publicKey: try key.verifyingKey.der, isRSA: false) { message, digest in
            guard digest == "sha256" else { throw TestKeyError() }
            return try key.sign(message)
        }
    }

    /// A new key made by `openssl genpkey`, which signs by `openssl dgst` or `openssl pkeyutl`.
    /// - Parameters:
    ///   - algorithm: such as `RSA`.
    ///   - option: such as `rsa_keygen_bits:2048`.
    static func made(by algorithm: String, _ option: String?, isCurveExplicit: Bool = false) throws -> TestKey {
        let folder = try TemporaryFolder()
        let path = folder.path + "/key.pem"
        let options = option.map { ["-pkeyopt", $0] } ?? []
        try OpenSSL.run(["genpkey", "-algorithm", algorithm, "-out", path] + options)
        let encoding = isCurveExplicit ? ["-ec_param_enc", "explicit"] : []
        try OpenSSL.run(
            ["pkey", "-in", path, "-pubout", "-outform", "DER", "-out", folder.path + "/public"] + encoding)
        return TestKey(publicKey: try folder.read("public"), isRSA: algorithm == "RSA") { message, digest in
            _ = folder  // which holds the key
            // A folder of its own, because tests sign with the same key at the same time.
            let own = try TemporaryFolder()
            try own.write(message, to: "message")
            try OpenSSL.run(
                ["dgst", "-\(digest)", "-sign", path, "-out", own.path + "/signature", own.path + "/message"])
            return try own.read("signature")
        }
    }

    /// The same private key with another encoding of its public half.
    func withPublicKey(_ publicKey: [UInt8]) -> TestKey {
        TestKey(publicKey: publicKey, isRSA: isRSA, makeSignature: makeSignature)
    }

    private init(
        publicKey: [UInt8], isRSA: Bool,
        makeSignature: @escaping @Sendable (_ message: [UInt8], _ digest: String) throws -> [UInt8]
    ) {
        self.publicKey = publicKey
        self.isRSA = isRSA
        self.makeSignature = makeSignature
    }

    /// - Returns: ASN.1 DER for ECDSA.
    func sign(_ message: [UInt8], _ digest: String = "sha256") throws -> [UInt8] { try makeSignature(message, digest) }

    /// - Returns: the signature of a JWS: r and s.
    func signRaw(_ message: [UInt8]) throws -> [UInt8] {
        guard let signature = RawSignature(der: try sign(message)) else { throw TestKeyError() }
        return signature.bytes
    }
}

struct TestKeyError: Error {}

/// The `openssl` command.
enum OpenSSL {
    struct Failure: Error {
        let message: String
    }

    @discardableResult
    static func run(_ arguments: [String], input: [UInt8] = []) throws -> String {
        let outcome = try Command.run("openssl", arguments, input: input)
        guard outcome.status == 0 else { throw Failure(message: outcome.standardError) }
        return outcome.standardOutput
    }
}
