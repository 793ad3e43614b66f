import Crypto
import OfferCore
import OfferCrypto
import TestSupport
import Testing

@Suite("Signatures")
struct SignatureTests {
    @Test("the published signatures verify", arguments: try OfferVectors.load().vectors)
    func publishedVerify(vector: OfferVectors.Vector) throws {
        let key = try VerifyingKey(der: [UInt8](OfferVectors.load().publicKey))
        #expect(try key.verify([UInt8](vector.signature), of: vector.payload.bytes))
        #expect(SHA256.hash(data: try vector.payload.bytes).hex == vector.payloadSHA256)
    }

    @Test(
        "a published signature or payload with any one bit flipped is refused",
        arguments: try OfferVectors.load().vectors)
    func turnedBitsAreRefused(vector: OfferVectors.Vector) throws {
        let key = try VerifyingKey(der: [UInt8](OfferVectors.load().publicKey))
        let multiples = try PrecomputedPublicKey(of: key.point)
        let signature = [UInt8](vector.signature)
        let message = try vector.payload.bytes
        #expect(try multiples.accepts(signature, of: message))
        for bit in 0..<signature.count * 8 {
            let accepted = try key.verify(signature.turningBit(bit), of: message)
            #expect(!accepted, "bit \(bit) of the signature")
            let quicklyAccepted = try multiples.accepts(signature.turningBit(bit), of: message)
            #expect(!quicklyAccepted, "bit \(bit) of the signature")
        }
        for bit in 0..<message.count * 8 {
            let accepted = try key.verify(signature, of: message.turningBit(bit))
            #expect(!accepted, "bit \(bit) of the payload")
            let quicklyAccepted = try multiples.accepts(signature, of: message.turningBit(bit))
            #expect(!quicklyAccepted, "bit \(bit) of the payload")
        }
    }

    @Test("a signature of the wrong length or form, or over another message, is refused without an error")
    func malformedIsRefused() throws {
        let key = try Fixtures.makeSigningKey()
        let message = try Fixtures.payload().bytes
        let signature = try key.sign(message)
        for other in [
            [], [0x30], signature + [0], signature.dropLast(), [UInt8](repeating: 0, count: 64),
            [0x30, 0x06, 2, 1, 0, 2, 1, 0],
        ] as [[UInt8]] {
            #expect(try !key.verify(other, of: message))
        }
        #expect(try key.verify(signature, of: message))
        #expect(try !key.verify(signature, of: message + [0]))
        #expect(try !Fixtures.makeSigningKey().verify(signature, of: message), "another key")
    }

    @Test("swift-crypto verifies our signatures, and we verify swift-crypto's")
    func swiftCryptoAgrees() throws {
        let pem = try PrivateKeyPEM.generate()
        let ours = try SigningKey(text: pem)
        let theirs = try P256.Signing.PrivateKey(pemRepresentation: String(decoding: pem, as: UTF8.self))
        #expect([UInt8](theirs.publicKey.derRepresentation) == (try ours.verifyingKey.der))
        for length in [0, 1, 55, 56, 64, 137, 173, 1000] {
            let message = [UInt8](repeating: 0x61, count: length)
            let signature = try ours.sign(message)
            #expect(signature.count <= 72)
            #expect(theirs.publicKey.isValidSignature(try .init(derRepresentation: signature), for: message))
            let back = try theirs.signature(for: message)
            #expect(try ours.verify([UInt8](back.derRepresentation), of: message))
        }
    }

    @Test("the openssl command verifies our signatures, and we verify its signatures")
    func opensslCommandAgrees() throws {
        let folder = try TemporaryFolder()
        let pem = try PrivateKeyPEM.generate()
        try folder.write(pem, to: "key.p8")
        let key = try SigningKey(text: pem)
        let message = try Fixtures.payload().bytes
        try folder.write(message, to: "message")
        try folder.write(key.sign(message), to: "ours.sig")
        try openssl("pkey", "-in", "key.p8", "-pubout", "-out", "public.pem", in: folder)
        let verified = try openssl(
            "dgst", "-sha256", "-verify", "public.pem", "-signature", "ours.sig", "message", in: folder)
        #expect(verified.contains("Verified OK"))
        try openssl("dgst", "-sha256", "-sign", "key.p8", "-out", "theirs.sig", "message", in: folder)
        #expect(try key.verify(folder.read("theirs.sig"), of: message))
        #expect(try VerifyingKey(pem: folder.read("public.pem")).der == key.verifyingKey.der)
    }

    @Test("two signatures over the same message differ")
    func randomised() throws {
        let key = try Fixtures.makeSigningKey()
        #expect(try key.sign([1]) != key.sign([1]))
    }
}

/// Runs the openssl command, which must succeed.
@discardableResult
func openssl(_ arguments: String..., in folder: TemporaryFolder) throws -> String {
    let outcome = try Command.run("openssl", arguments, directory: folder.url)
    try #require(outcome.status == 0, "openssl \(arguments): \(outcome.standardError)")
    return outcome.standardOutput
}
