import Crypto
import OfferCore
import OfferCrypto
import TestSupport
import Testing

/// The precomputed verifier must agree with `EVP_PKEY_verify`. ``SignatureEncodingTests`` covers signature encodings
/// and ``SignatureTests`` covers flipped bits, each with both verifiers.
@Suite("Precomputed verifier")
struct QuickVerificationTests {
    @Test("signatures of SigningKey and swift-crypto are accepted, and altered ones are refused", arguments: 0..<4)
    func agrees(round: Int) throws {
        let pem = try PrivateKeyPEM.generate()
        let ours = try SigningKey(text: pem)
        let theirs = try P256.Signing.PrivateKey(pemRepresentation: String(decoding: pem, as: UTF8.self))
        let key = try ours.verifyingKey
        let multiples = try PrecomputedPublicKey(of: key.point)
        let another = try PrecomputedPublicKey(of: Fixtures.makeSigningKey().verifyingKey.point)
        var numbers = SplitMix64(seed: UInt64(round))
        for length in 0..<100 {
            let message = [UInt8](repeating: UInt8(round), count: length)
            for signature in [try ours.sign(message), [UInt8](try theirs.signature(for: message).derRepresentation)] {
                #expect(try key.verify(signature, of: message))
                #expect(try multiples.accepts(signature, of: message))
                #expect(try !multiples.accepts(signature, of: message + [0]))
                #expect(try !another.accepts(signature, of: message))
                let bit = Int.random(in: 0..<signature.count * 8, using: &numbers)
                #expect(try !multiples.accepts(signature.turningBit(bit), of: message), "bit \(bit)")
            }
        }
    }

    /// Special cases of the arithmetic that random numbers practically never reach.
    struct Rarity: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// The coordinates x and y of the public key.
        var key = [
            "0a9e44161454cd6a9fede372b365b2c782b83580590707e0c1946ec78f5a8d4a",
            "8c84563cf38b878f8327a6fc46d919b204c5acb5eb1c75bbf6a6801d11cea7eb",
        ]
        let hash: String
        let r: String
        let s: String
        var isGood = true
    }

    /// Computed for this test with independent Python code. The keys and numbers are hashes of sentences.
    static let rarities = [
        Rarity(
            testDescription: "an x that is larger than the order",
            key: [
                "a0e9b4e690284c1f288ff4411862cd7d2b3eb0090dbb09ea6b0d0589ae7e9920",
                "f41fda815645aac99757d1d929d212ead07825eb98899869a01b03c6fba31fe5",
            ],
            hash: "1c61da8aff073113c743f3aac2286e1f0b24874280fafc3752dbcbed9cdccf3d",
            r: "0000000000000000000000000000000000000000000000000000000000000003",
            s: "e8bc163c82eee18733288c7d4ac636db3a6deb013ef2d37b68322be20edc45cc"),
        Rarity(
            testDescription: "the same x used as r, which exceeds the order",
            key: [
                "a0e9b4e690284c1f288ff4411862cd7d2b3eb0090dbb09ea6b0d0589ae7e9920",
                "f41fda815645aac99757d1d929d212ead07825eb98899869a01b03c6fba31fe5",
            ],
            hash: "1c61da8aff073113c743f3aac2286e1f0b24874280fafc3752dbcbed9cdccf3d",
            r: "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632554",
            s: "e8bc163c82eee18733288c7d4ac636db3a6deb013ef2d37b68322be20edc45cc", isGood: false),
        Rarity(
            testDescription: "a sum of two equal points",
            hash: "f4c076f9266bac1eff6ca490adff1346118cdcfb6f4883621f710113dd8c6b11",
            r: "21a0c4b500906e1c5277208ae23ab5d855deaefc44ae755086af3b8ef71face1",
            s: "109247bd6a469f3da1ddb0f00244bbbeb1be523a683b4e97e8610629d2a4df46"),
        Rarity(
            testDescription: "a sum that is the point at infinity",
            hash: "81f66e097f84bc586440dd77f883f57593f5454eb7d00c972118fb98b51be723",
            r: "e49d63b2a8a78f048bafc4b4590029603a5a4165ee8bf98af15d62f24cd83479",
            s: "41242b9fae56fad4e6e77dfe33cb18d1c3fc583f988cf25ef9f2d9be0d440bbb", isGood: false),
        Rarity(
            testDescription: "a hash of zeros, which cancels the base point",
            hash: "0000000000000000000000000000000000000000000000000000000000000000",
            r: "3a4c5ebf3d13b430708529b408a177fc2f9107d070b8a84a46f71c93994f92dd",
            s: "210f3632e106f38fa57bbf0b399f452c94941a3ae84cc8979297642e2f447342"),
        Rarity(
            testDescription: "a hash that is the order",
            hash: "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551",
            r: "3a4c5ebf3d13b430708529b408a177fc2f9107d070b8a84a46f71c93994f92dd",
            s: "210f3632e106f38fa57bbf0b399f452c94941a3ae84cc8979297642e2f447342"),
        Rarity(
            testDescription: "the largest hash",
            hash: "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
            r: "a5d9f99501d53e7899a1b62092d08f34376f63a900b4d3cce24956c2b50ff8d3",
            s: "194a17539f896204ea1a73a1d75599db36600db595d00b4ce22c79650a733b2a"),
        Rarity(
            testDescription: "the base point as the public key",
            key: [
                "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296",
                "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5",
            ],
            hash: "018c267d72f6381a2ec828ada8fb4995323745e5dce6222890ebac36f5323e68",
            r: "f508c45aaa5c01c68bfa3ea1d5af9005db3324e35c87b267da4404db078df065",
            s: "8d4d9b73ce4135bb0d753562e752607c8adc53e83f76e389d5b5b52f5a5d26d3"),
        Rarity(
            testDescription: "the negated base point as the public key",
            key: [
                "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296",
                "b01cbd1c01e58065711814b583f061e9d431cca994cea1313449bf97c840ae0a",
            ],
            hash: "018c267d72f6381a2ec828ada8fb4995323745e5dce6222890ebac36f5323e68",
            r: "f508c45aaa5c01c68bfa3ea1d5af9005db3324e35c87b267da4404db078df065",
            s: "9a0752267ddabb48e60f15439c056b1facedc012e4162bf212ffe6ec5729cc3d"),
        Rarity(
            testDescription: "the smallest s",
            hash: "105286b5816f0a0b2cb51255b047261611fa8a23e1ec25d8e217822e2cdbb774",
            r: "cd06a12e52a7d983d0876221c00e05ae392fe02643a39612e89dc3cd29bbd538",
            s: "0000000000000000000000000000000000000000000000000000000000000001"),
        Rarity(
            testDescription: "the same s plus the order",
            hash: "105286b5816f0a0b2cb51255b047261611fa8a23e1ec25d8e217822e2cdbb774",
            r: "cd06a12e52a7d983d0876221c00e05ae392fe02643a39612e89dc3cd29bbd538",
            s: "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632552", isGood: false),
        Rarity(
            testDescription: "the largest s",
            hash: "88c24e5c4c3936467b07f2ccb4ce1ae7a891fb7f0c4d2a17cf5ee9d186330fe8",
            r: "cd06a12e52a7d983d0876221c00e05ae392fe02643a39612e89dc3cd29bbd538",
            s: "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632550"),
    ]

    @Test("special cases verify correctly, and the openssl command agrees", arguments: rarities)
    func rare(_ rarity: Rarity) throws {
        // SubjectPublicKeyInfo up to the uncompressed point (RFC 5480 section 2).
        let beginning = "3059301306072a8648ce3d020106082a8648ce3d03010703420004"
        let der = try #require(Hexadecimal.bytes(of: beginning + rarity.key.joined(), count: 91))
        let hash = try #require(Hexadecimal.bytes(of: rarity.hash, count: 32))
        let numbers = try #require(Hexadecimal.bytes(of: rarity.r + rarity.s, count: 64))
        let signature = try #require(RawSignature(bytes: numbers)).der

        let quick = try PrecomputedVerifier(by: PrecomputedPublicKey(of: VerifyingKey(der: der).point))
        #expect(quick.accepts(signature, ofHash: InlineArray { hash[$0] }) == rarity.isGood)
        for bit in 0..<256 {
            let turned = hash.turningBit(bit)
            #expect(!quick.accepts(signature, ofHash: InlineArray { turned[$0] }), "bit \(bit)")
        }

        let folder = try TemporaryFolder()
        try folder.write(der, to: "key")
        try folder.write(hash, to: "hash")
        try folder.write(signature, to: "signature")
        let outcome = try Command.run(
            "openssl",
            [
                "pkeyutl", "-verify", "-pubin", "-keyform", "DER", "-inkey", "key", "-in", "hash", "-sigfile",
                "signature",
            ],
            directory: folder.url)
        #expect(outcome.standardOutput.contains(rarity.isGood ? "Verified Successfully" : "Verification Failure"))
    }

    @Test("a key can be precomputed twice, even while other threads sign and verify with it")
    func preparedMeanwhile() async throws {
        let key = try Fixtures.makeSigningKey()
        let other = try Fixtures.makeSigningKey()
        try await withThrowingTaskGroup { group in
            for number in 0..<4 as Range<UInt8> {
                group.addTask {
                    for _ in 0..<500 {
                        let signature = try key.sign([number])
                        #expect(try key.verifyOwn(signature, of: [number]))
                        #expect(try !key.verifyOwn(signature, of: [number + 1]))
                        #expect(try !key.verifyOwn(other.sign([number]), of: [number]))
                    }
                }
            }
            for _ in 0..<2 { group.addTask { _ = try key.precompute() } }
            try await group.waitForAll()
            #expect(try !key.precompute())
        }
    }

    @Test("tables precomputed for another key are refused, and are dropped after a wrong result")
    func wrongMultiples() throws {
        let key = try Fixtures.makeSigningKey()
        let wrong = try PrecomputedPublicKey(of: Fixtures.makeSigningKey().verifyingKey.point)
        #expect(throws: OpenSSLError.self) { try key.prove(wrong) }
        #expect(try key.precompute())
        let (message, signature) = ([UInt8(1)], try key.sign([1]))
        #expect(try key.verifyOwn(signature, of: message))
        // Simulates memory corruption.
        key.use(wrong)
        #expect(try !key.verifyOwn(signature, of: [2]), "both verifiers refuse it")
        let error = #expect(throws: OpenSSLError.self) { try key.verifyOwn(signature, of: message) }
        #expect(error?.call == "EC_POINT_mul")
        #expect(try key.verifyOwn(signature, of: message))
        #expect(try key.precompute(), "the wrong tables have been dropped")
    }
}

extension VerifyingKey {
    /// The uncompressed point at the end of SubjectPublicKeyInfo.
    var point: [UInt8] { Array(der.suffix(65)) }
}

extension PrecomputedPublicKey {
    func accepts(_ signature: [UInt8], of message: [UInt8]) throws -> Bool {
        let hash = [UInt8](Crypto.SHA256.hash(data: message))
        return try PrecomputedVerifier(by: self).accepts(signature, ofHash: InlineArray { hash[$0] })
    }
}
