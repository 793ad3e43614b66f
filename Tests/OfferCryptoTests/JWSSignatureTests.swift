import Crypto
import Foundation
import JWTKit
import OfferCore
import OfferCrypto
import TestSupport
import Testing

@Suite("JWS signatures")
struct JWSSignatureTests {
    @Test("the published JWS verifies in libcrypto and swift-crypto, but not with any one bit flipped")
    func published() async throws {
        let der = [UInt8](try OfferVectors.load().publicKey)
        let key = try VerifyingKey(der: der)
        let text = Array(try JWSVector.load().compactJWS.utf8)
        let jws = try CompactJWS(text)
        #expect(try key.verify(jws.signature.der, of: jws.signingInput))
        #expect(try Self.swiftCryptoAccepts(text, P256.Signing.PublicKey(derRepresentation: der)))
        for bit in 0..<text.count * 8 {
            if bit % 64 == 0 { await Task.yield() }
            guard let turned = try? CompactJWS(text.turningBit(bit)) else { continue }
            #expect(try !key.verify(turned.signature.der, of: turned.signingInput), "bit \(bit)")
        }
    }

    private static func swiftCryptoAccepts(_ text: [UInt8], _ key: P256.Signing.PublicKey) throws -> Bool {
        let parts = String(decoding: text, as: UTF8.self).split(separator: ".").map(String.init)
        let signature = try P256.Signing.ECDSASignature(
            rawRepresentation: try #require(Base64URL.bytes(of: parts[2].utf8)))
        return key.isValidSignature(signature, for: Data("\(parts[0]).\(parts[1])".utf8))
    }

    /// Claims of every kind.
    private struct Claims: JWTPayload {
        let iss: String
        let iat: Int
        let aud: String
        let bid: String
        let nonce: UUID
        let exp: Int?
        let productId, offerIdentifier, transactionId: String?
        let allowIntroductoryOffer: Bool?
        let request: Data?

        func verify(using algorithm: some JWTAlgorithm) {}
    }

    @Test("swift-crypto and jwt-kit verify our JWS, and jwt-kit reads the requested claims")
    func others() async throws {
        let key = try Fixtures.makeSigningKey()
        let publicKey = try P256.Signing.PublicKey(derRepresentation: key.verifyingKey.der)
        let keys = JWTKeyCollection()
        await keys.add(ecdsa: try ES256PublicKey(pem: publicKey.pemRepresentation), kid: "TESTKEY123")
        let (product, transaction) = try (ProductID(utf8: Array("pro".utf8)), TransactionID(utf8: Array("2".utf8)))
        let json = try #require(try JSONObjectText(Array(#"{"a" :[1,"é"]}"#.utf8)))
        func claims(of request: AppStoreRequest) async throws -> Claims {
            let jws = try key.compactJWS(for: Fixtures.unsignedJWS(request))
            #expect(jws.text.split(separator: UInt8(ascii: "."))[2].count == 86)
            #expect(try Self.swiftCryptoAccepts(jws.text, publicKey))
            let claims = try await keys.verify(jws.text, as: Claims.self)
            #expect((claims.iss, claims.iat, claims.bid) == (Fixtures.issuerText, 1_767_225_600, "com.example.app"))
            #expect(claims.nonce == UUID(uuidString: Fixtures.nonceText) && claims.exp == nil)
            return claims
        }
        for _ in 0..<200 {  // about one signature in a hundred has a short r or s
            let offer = try await claims(of: Fixtures.promotionalOffer())
            #expect((offer.aud, offer.productId, offer.offerIdentifier) == ("promotional-offer", "pro", "offer"))
            #expect(offer.transactionId == "2000000123456789")
        }
        #expect(try await claims(of: Fixtures.promotionalOffer(transactionID: nil)).transactionId == nil)
        for isAllowed in [true, false] {
            let made = try await claims(of: .introductoryOfferEligibility(product, allowed: isAllowed, transaction))
            #expect((made.aud, made.productId) == ("introductory-offer-eligibility", "pro"))
            #expect((made.transactionId, made.allowIntroductoryOffer) == ("2", isAllowed))
        }
        let commerce = try await claims(of: .advancedCommerce(json))
        #expect((commerce.aud, commerce.request) == ("advanced-commerce-api", Data(json.utf8)))
    }

    @Test("self-verification refuses a JWS with a flipped bit and a validly signed JWS with other claims")
    func selfVerification() async throws {
        let key = try Fixtures.makeSigningKey()
        func refuses(_ text: [UInt8], _ jws: UnsignedJWS) -> Bool {
            do { _ = try key.verified(text, matching: jws) } catch .signatureRefused { return true } catch {}
            return false
        }
        let offer = try Fixtures.unsignedJWS(Fixtures.promotionalOffer())
        let text = try key.compactJWS(for: offer).text
        #expect(!refuses(text, offer))
        for bit in 0..<text.count * 8 {
            if bit % 64 == 0 { await Task.yield() }
            #expect(refuses(text.turningBit(bit), offer), "bit \(bit)")
        }
        let (header, claims) = (offer.header, String(decoding: offer.claims, as: UTF8.self))
        /// A JWS with a valid signature over another header or other claims.
        func signed(_ header: [UInt8], _ claims: [UInt8]) throws -> [UInt8] {
            let input = Base64URL.text(of: header) + [UInt8(ascii: ".")] + Base64URL.text(of: claims)
            let signature = try #require(try RawSignature(der: key.sign(input)))
            return input + [UInt8(ascii: ".")] + Base64URL.text(of: signature.bytes)
        }
        #expect(try !refuses(signed(header, offer.claims), offer))
        for alg in ["none", "HS256", "es256", "ES384"] {
            let other = String(decoding: header, as: UTF8.self).replacing("ES256", with: alg)
            #expect(try refuses(signed(Array(other.utf8), offer.claims), offer), "\(alg)")
        }
        for (one, other) in [
            ("1767225600", "1767225601"), ("com.example.app", "com.example.apq"), ("7f8a1c7e", "7f8a1c7f"),
            ("7f8a1c7e", "7F8A1C7E"), ("57246542", "57246543"), ("\"pro\"", "\"prp\""), ("\"offer\"", "\"offes\""),
            ("2000000123456789", "2000000123456788"), (",\"transactionId\":\"2000000123456789\"", ""),
        ] {
            let changed = claims.replacing(one, with: other)
            #expect(changed != claims)
            #expect(try refuses(signed(header, Array(changed.utf8)), offer), "\(other)")
        }
        let otherKey = String(decoding: header, as: UTF8.self).replacing("TESTKEY123", with: "TESTKEY124")
        #expect(try refuses(signed(Array(otherKey.utf8), offer.claims), offer))
    }

    @Test("a JWS with a part of another JWS does not verify, and neither does one signed with another key")
    func exchanged() throws {
        let key = try Fixtures.makeSigningKey()
        let one = try key.compactJWS(for: Fixtures.unsignedJWS(Fixtures.promotionalOffer(transactionID: "1")))
        let other = try key.compactJWS(for: Fixtures.unsignedJWS(Fixtures.promotionalOffer(transactionID: "2")))
        let parts = [one, other].map { $0.text.split(separator: UInt8(ascii: ".")).map(Array.init) }
        for (claims, signature) in [(0, 1), (1, 0)] {
            let mixed = try CompactJWS(
                parts[0][0] + [0x2E] + parts[claims][1] + [0x2E] + parts[signature][2])
            #expect(try !key.verify(mixed.signature.der, of: mixed.signingInput))
        }
        #expect(try key.verify(one.signature.der, of: one.signingInput))
        #expect(try !Fixtures.makeSigningKey().verify(one.signature.der, of: one.signingInput), "another key")
    }
}
