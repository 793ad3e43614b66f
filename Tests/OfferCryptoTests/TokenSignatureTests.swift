import Crypto
import CryptoExtras
import Foundation
import JWTKit
import OfferCore
import OfferCrypto
import TestSupport
import Testing

@Suite("User token signatures")
struct TokenSignatureTests {
    private static let message = Array("header.claims".utf8)

    private static func swiftCryptoSignature(_ key: ProviderKey, _ algorithm: TokenAlgorithm) throws -> [UInt8] {
        [UInt8](try key.sign(Data(message), algorithm.rawValue))
    }

    private struct Claims: JWTPayload {
        let sub: String

        func verify(using algorithm: some JWTAlgorithm) {}
    }

    /// A token signed by JWTKit.
    private static func jwtKitToken(_ key: ProviderKey, _ algorithm: TokenAlgorithm) async throws -> String {
        let keys = JWTKeyCollection()
        switch key.kind {
        case .p256(let key): await keys.add(ecdsa: try ES256PrivateKey(backing: key))
        case .p384(let key): await keys.add(ecdsa: try ES384PrivateKey(backing: key))
        case .p521(let key): await keys.add(ecdsa: try ES512PrivateKey(backing: key))
        case .ed25519(let key): await keys.add(eddsa: EdDSA.PrivateKey(backing: key))
        case .rsa(let key):
            let key = try Insecure.RSA.PrivateKey(backing: key)
            let digests: [Substring: DigestAlgorithm] = ["256": .sha256, "384": .sha384, "512": .sha512]
            let digest = try #require(digests[algorithm.rawValue.suffix(3)])
            if algorithm.rawValue.hasPrefix("PS") {
                await keys.add(pss: key, digestAlgorithm: digest)
            } else {
                await keys.add(rsa: key, digestAlgorithm: digest)
            }
        }
        return try await keys.sign(Claims(sub: "user"))
    }

    @Test(
        "a token signed by JWTKit verifies, but not with any one bit flipped", arguments: TokenAlgorithm.allCases)
    func jwtKitAgrees(algorithm: TokenAlgorithm) async throws {
        let key = try ProviderKey.make(for: algorithm.rawValue)
        let parts = try await Self.jwtKitToken(key, algorithm).split(separator: ".").map(String.init)
        let (ours, message) = (try key.verificationKey(), Array("\(parts[0]).\(parts[1])".utf8))
        let signature = try #require(Base64URL.bytes(of: parts[2].utf8))
        #expect(try ours.verify(signature, of: message, by: algorithm))
        for bit in 0..<signature.count * 8 {
            if bit % 64 == 0 { await Task.yield() }
            #expect(try !ours.verify(signature.turningBit(bit), of: message, by: algorithm), "bit \(bit) of signature")
        }
        for bit in 0..<message.count * 8 {
            if bit % 64 == 0 { await Task.yield() }
            #expect(try !ours.verify(signature, of: message.turningBit(bit), by: algorithm), "bit \(bit) of message")
        }
    }

    @Test("a swift-crypto signature verifies only with its key and algorithm", arguments: TokenAlgorithm.allCases)
    func oneKeyAndAlgorithm(algorithm: TokenAlgorithm) throws {
        let key = try ProviderKey.make(for: algorithm.rawValue)
        let another = algorithm.isRSA ? try Self.anotherRSAKey() : try ProviderKey.make(for: algorithm.rawValue)
        let signature = try Self.swiftCryptoSignature(key, algorithm)
        #expect(try key.verificationKey().verify(signature, of: Self.message, by: algorithm))
        #expect(try !another.verificationKey().verify(signature, of: Self.message, by: algorithm))
        #expect(try !key.verificationKey().verify(signature, of: Self.message + [0], by: algorithm))
        #expect(try !key.verificationKey().verify(signature, of: [], by: algorithm))
        for other in TokenAlgorithm.allCases where other != algorithm {
            #expect(try !key.verificationKey().verify(signature, of: Self.message, by: other), "accepted as \(other)")
            let otherKey = try ProviderKey.make(for: other.rawValue).verificationKey()
            #expect(try !otherKey.verify(signature, of: Self.message, by: other), "accepted by a key for \(other)")
            // ES256 means P-256 with SHA-256: neither a longer digest nor a larger curve is accepted.
            #expect(try otherKey.verify(signature, of: Self.message, by: algorithm) == (algorithm.isRSA && other.isRSA))
        }
    }

    /// Generates a key with openssl, which is faster than swift-crypto in a debug build.
    private static func anotherRSAKey() throws -> ProviderKey {
        let arguments = ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"]
        let folder = try TemporaryFolder()
        let outcome = try Command.run("openssl", arguments, directory: folder.url)
        return ProviderKey(.rsa(try _RSA.Signing.PrivateKey(pemRepresentation: outcome.standardOutput)))
    }

    @Test("a signature of the wrong size or form is refused without an error", arguments: TokenAlgorithm.allCases)
    func malformed(algorithm: TokenAlgorithm) throws {
        let key = try ProviderKey.make(for: algorithm.rawValue)
        let ours = try key.verificationKey()
        let signature = try Self.swiftCryptoSignature(key, algorithm)
        let zeros = [UInt8](repeating: 0, count: signature.count)
        let half = signature.count / 2
        let (first, second) = (Array(signature[..<half]), Array(signature[half...]))
        for (name, other) in [
            ("empty", []), ("one byte", [0]), ("one byte short", signature.dropLast()), ("half", first),
            ("without its first byte", Array(signature.dropFirst())), ("a trailing zero", signature + [0]),
            ("a leading zero", [0] + signature), ("a leading zero in each half", [0] + first + [0] + second),
            ("two extra bytes", signature + [0, 0]), ("twice", signature + signature), ("zeros", zeros),
            ("a first half of zeros", zeros[..<half] + second), ("a second half of zeros", first + zeros[..<half]),
            ("swapped halves", second + first), ("ones", [UInt8](repeating: 0xFF, count: signature.count)),
            // An RSA signature would be too long for our DER writer.
            ("DER", half > 66 ? [] : ECDSASignatureDER.text(r: signature[..<half], s: signature[half...])),
        ] as [(String, [UInt8])] {
            #expect(try !ours.verify(other, of: Self.message, by: algorithm), "\(name)")
        }
        #expect(try ours.verify(signature, of: Self.message, by: algorithm))
    }

    @Test("an RSA signature counts with its leading zero byte only", arguments: [TokenAlgorithm.rs256, .ps384])
    func leadingZero(algorithm: TokenAlgorithm) throws {
        let key = try ProviderKey.make(for: algorithm.rawValue)
        let ours = try key.verificationKey()
        // One signature in 256 begins with a zero.
        for number in 0..<20_000 {
            let message = Array("message \(number)".utf8)
            let signature = [UInt8](try key.sign(Data(message), algorithm.rawValue))
            guard signature.first == 0 else { continue }
            #expect(try ours.verify(signature, of: message, by: algorithm))
            #expect(try !ours.verify(Array(signature.dropFirst()), of: message, by: algorithm))
            return
        }
        Issue.record("no signature began with a zero")
    }

    @Test("r and s with leading zeros or high bits get the same DER encoding as in swift-crypto")
    func der() throws {
        func check(_ raw: Data, _ der: Data) {
            let (raw, half) = ([UInt8](raw), raw.count / 2)
            #expect(ECDSASignatureDER.text(r: raw[..<half], s: raw[half...]) == [UInt8](der))
        }
        let (p256, p384, p521) = (
            P256.Signing.PrivateKey(), P384.Signing.PrivateKey(), P521.Signing.PrivateKey()
        )
        for number in 0..<100 as Range<UInt8> {
            let signature = try p256.signature(for: [number])
            check(signature.rawRepresentation, signature.derRepresentation)
        }
        for number in 0..<50 as Range<UInt8> {
            let (shorter, longer) = (try p384.signature(for: [number]), try p521.signature(for: [number]))
            check(shorter.rawRepresentation, shorter.derRepresentation)
            check(longer.rawRepresentation, longer.derRepresentation)
        }
        // Random signatures rarely contain numbers like these.
        for (size, zeros) in [(32, 1), (32, 31), (48, 2), (66, 1), (66, 65)] {
            for digit in [1, 0x7F, 0x80, 0xFF] as [UInt8] {
                let number = [UInt8](repeating: 0, count: zeros) + [UInt8](repeating: digit, count: size - zeros)
                let raw = Data(number + number.reversed().map { $0 == 0 ? 1 : $0 })
                let der =
                    switch size {
                    case 32: try P256.Signing.ECDSASignature(rawRepresentation: raw).derRepresentation
                    case 48: try P384.Signing.ECDSASignature(rawRepresentation: raw).derRepresentation
                    default: try P521.Signing.ECDSASignature(rawRepresentation: raw).derRepresentation
                    }
                check(raw, der)
            }
        }
    }

    @Test(
        "PSS requires a salt as long as the digest and MGF1 with the same digest (RFC 7518 section 3.5)",
        arguments: [TokenAlgorithm.ps256, .ps384, .ps512])
    func pss(algorithm: TokenAlgorithm) throws {
        let key = try ProviderKey.make(for: algorithm.rawValue)
        guard case .rsa(let rsa) = key.kind else { return }
        let folder = try TemporaryFolder()
        try folder.write(rsa.pemRepresentation.utf8, to: "key.pem")
        try folder.write(Self.message, to: "message")
        let digest = algorithm.rawValue.suffix(3)
        let size = try #require(Int(digest)) / 8
        for (options, isGood) in [
            (["rsa_pss_saltlen:digest"], true), (["rsa_pss_saltlen:\(size)"], true),
            (["rsa_pss_saltlen:0"], false), (["rsa_pss_saltlen:20"], false), (["rsa_pss_saltlen:max"], false),
            (["rsa_pss_saltlen:\(size - 1)"], false), (["rsa_pss_saltlen:\(size + 1)"], false),
            (["rsa_pss_saltlen:digest", "rsa_mgf1_md:sha1"], false),
            (["rsa_pss_saltlen:digest", "rsa_mgf1_md:\(digest == "256" ? "sha512" : "sha256")"], false),
        ] {
            let outcome = try Command.run(
                "openssl",
                ["dgst", "-sha\(digest)", "-sign", "key.pem"]
                    + (["rsa_padding_mode:pss"] + options).flatMap { ["-sigopt", $0] }
                    + ["-out", "signature", "message"],
                directory: folder.url)
            try #require(outcome.status == 0, "\(outcome.standardError)")
            let signature = [UInt8](try folder.read("signature"))
            let isAccepted = try key.verificationKey().verify(signature, of: Self.message, by: algorithm)
            #expect(isAccepted == isGood, "\(options)")
        }
    }

    @Test(
        "the RFC examples verify",
        arguments: [
            (  // RFC 7515 appendix A.3
                TokenAlgorithm.es256,
                ["f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"],
                "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9p"
                    + "c19yb290Ijp0cnVlfQ",
                "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
            ),
            (  // RFC 8037 appendix A.4
                .edDSA, ["11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"],
                "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc",
                "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"
            ),
        ])
    func published(algorithm: TokenAlgorithm, numbers: [String], message: String, signature: String) throws {
        let numbers = try numbers.map { try #require(Base64URL.bytes(of: $0.utf8)) }
        let key =
            numbers.count == 1
            ? try TokenVerificationKey(ed25519: numbers[0])
            : try TokenVerificationKey(.p256, x: numbers[0], y: numbers[1])
        let signature = try #require(Base64URL.bytes(of: signature.utf8))
        #expect(try key.verify(signature, of: Array(message.utf8), by: algorithm))
        #expect(try !key.verify(signature, of: Array(message.utf8) + [0], by: algorithm))
    }

    @Test("a key works on many threads, and a refusal on one does not affect the others")
    func threads() async throws {
        let keys = try TokenAlgorithm.allCases.map { ($0, try ProviderKey.make(for: $0.rawValue)) }
        let signed = try keys.map { algorithm, key in
            (algorithm, try key.verificationKey(), try Self.swiftCryptoSignature(key, algorithm))
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for round in 0..<20 {
                        for (algorithm, key, signature) in signed {
                            let isGood = (task + round) % 2 == 0
                            let given = isGood ? signature : signature.turningBit(round)
                            let isAccepted = try key.verify(given, of: Self.message, by: algorithm)
                            #expect(isAccepted == isGood)
                        }
                        await Task.yield()
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}

extension TokenAlgorithm {
    fileprivate var isRSA: Bool { TokenKeyKind.rsa.algorithms.contains(self) }
}
