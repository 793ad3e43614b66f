import Foundation
import OfferCore
import TestSupport
import Testing

@Suite("JWS")
struct JWSTests {
    @Test("the published vector is parsed correctly, and its header and claims are written byte for byte")
    func vector() throws {
        let vector = try JWSVector.load()
        let jws = try CompactJWS(Array(vector.compactJWS.utf8))
        #expect(String(decoding: jws.content.header, as: UTF8.self) == vector.header)
        #expect(String(decoding: jws.content.claims, as: UTF8.self) == vector.claims)
        #expect(jws.content.signingInput == jws.signingInput)
        #expect(jws.content.request == (try CompactJWS(Array(vector.compactJWS.utf8)).content.request))
        #expect(String(decoding: jws.text, as: UTF8.self) == vector.compactJWS)
    }

    @Test("each kind's claims match byte for byte: no exp, aud as a string, iat in whole seconds, lower-case nonce")
    func claims() throws {
        let product = try ProductID(utf8: Array("pro \"é\" \\".utf8))
        let transaction = try TransactionID(utf8: Array("2000000123456789".utf8))
        let json = try #require(try JSONObjectText(Array(#"{ "b" : 1.0, "a":"\u00e9?>"}"#.utf8)))
        let base = #"{"iss":"57246542-96fe-1a63-e053-0824d011072a","iat":1767225600,"aud":"#
        let middle = #","bid":"com.example.app","nonce":"7f8a1c7e-3f2b-4f0d-9b1a-0c5d6e7f8a9b","#
        for (request, aud, own) in [
            (
                try Fixtures.promotionalOffer(), "promotional-offer",
                #""productId":"pro","offerIdentifier":"offer","transactionId":"2000000123456789"}"#
            ),
            (
                try Fixtures.promotionalOffer(transactionID: nil), "promotional-offer",
                #""productId":"pro","offerIdentifier":"offer"}"#
            ),
            (
                .introductoryOfferEligibility(product, allowed: true, transaction), "introductory-offer-eligibility",
                #""productId":"pro \"é\" \\","allowIntroductoryOffer":true,"transactionId":"2000000123456789"}"#
            ),
            (
                .introductoryOfferEligibility(product, allowed: false, transaction), "introductory-offer-eligibility",
                #""productId":"pro \"é\" \\","allowIntroductoryOffer":false,"transactionId":"2000000123456789"}"#
            ),
            (
                .advancedCommerce(json), "advanced-commerce-api",
                #""request":"\#(json.utf8.foundationBase64)"}"#
            ),
        ] as [(AppStoreRequest, String, String)] {
            let jws = try Fixtures.unsignedJWS(request)
            #expect(String(decoding: jws.header, as: UTF8.self) == #"{"alg":"ES256","kid":"TESTKEY123","typ":"JWT"}"#)
            #expect(String(decoding: jws.claims, as: UTF8.self) == base + "\"\(aud)\"" + middle + own)
            #expect(try CompactJWS(Self.text(jws)).content == jws)
        }
        #expect(json.utf8.foundationBase64.contains("="), "standard base64 has padding")
    }

    /// A JWS with an arbitrary signature.
    private static func text(_ jws: UnsignedJWS) -> [UInt8] { text(jws.header, jws.claims) }

    private static func text(
        _ header: [UInt8], _ claims: [UInt8], signature: [UInt8] = [UInt8](repeating: 1, count: 64)
    ) -> [UInt8] {
        Array([header, claims, signature].map(Base64URL.text).joined(separator: [UInt8(ascii: ".")]))
    }

    @Test("100,000 random JWSs parse back to exactly their inputs", arguments: 0..<4 as Range<UInt64>)
    func readsAsInputs(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)  // a failure's name contains the seed, for replay
        for round in 0..<25_000 {
            if round % 32 == 0 { await Task.yield() }
            let product = try ProductID(utf8: Self.randomText(1...20, &random))
            let transaction = try TransactionID(utf8: Self.randomText(1...20, &random))
            let request: AppStoreRequest
            switch random.next() % 4 {
            case 0: request = .introductoryOfferEligibility(product, allowed: .random(using: &random), transaction)
            case 1:
                let value = JSONWriter.object { $0.member("a", utf8: Self.randomText(0...30, &random)) }
                request = .advancedCommerce(try #require(try JSONObjectText(value)))
            case let kind:
                request = .promotionalOffer(
                    product, try OfferID(utf8: Self.randomText(1...20, &random)), kind == 2 ? transaction : nil)
            }
            let id = [UInt8]("K\(random.next() % 1_000_000_000)".utf8)
            let jws = try UnsignedJWS(
                keyID: KeyID(utf8: id), issuerID: IssuerID(utf8: Nonce(using: &random).uuid.utf8),
                issuedAtSeconds: .random(in: 0...4_102_444_800, using: &random),
                bundleID: BundleID(utf8: Self.randomText(1...20, &random)), nonce: Nonce(using: &random),
                request: request)
            let signature = (0..<64).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            let text = Self.text(jws.header, jws.claims, signature: signature)
            let read = try CompactJWS(text)
            guard read.content == jws, read.signature.bytes == signature, read.signingInput == jws.signingInput,
                !text.contains(where: { $0 == 0x2B || $0 == 0x2F || $0 == 0x3D }),
                try Self.agrees(jws, text)
            else {
                Issue.record("\(String(decoding: text, as: UTF8.self)) was parsed as a different JWS")
                return
            }
        }
    }

    /// Whether Foundation reads the same claims. Checks about one JWS in 16, because Foundation is slow.
    private static func agrees(_ jws: UnsignedJWS, _ text: [UInt8]) throws -> Bool {
        guard jws.issuedAtSeconds % 16 == 0 else { return true }
        let part = text.split(separator: UInt8(ascii: "."))[1]
        let claims = try JSONSerialization.jsonObject(with: Data(#require(Base64URL.bytes(of: part)))) as? [String: Any]
        let product = claims?["productId"] as? String
        let transaction = claims?["transactionId"] as? String
        switch jws.request {
        case .promotionalOffer(let ofProduct, let offer, let ofTransaction):
            return product.map { Array($0.utf8) } == ofProduct.text.utf8
                && (claims?["offerIdentifier"] as? String).map { Array($0.utf8) } == offer.text.utf8
                && transaction.map { Array($0.utf8) } == ofTransaction?.text.utf8
        case .introductoryOfferEligibility(let ofProduct, let isAllowed, let ofTransaction):
            return product.map { Array($0.utf8) } == ofProduct.text.utf8
                && claims?["allowIntroductoryOffer"] as? Bool == isAllowed
                && transaction.map { Array($0.utf8) } == ofTransaction.text.utf8
        case .advancedCommerce(let json):
            return Data(base64Encoded: claims?["request"] as? String ?? "") == Data(json.utf8)
        }
    }

    /// A random string of ordinary letters and of characters that trip up JSON and base64 code.
    private static func randomText(_ sizes: ClosedRange<Int>, _ random: inout SplitMix64) -> [UInt8] {
        let palette: [Unicode.Scalar] = [
            "a", "Z", "0", ".", "_", "\"", "\\", "/", "{", "}", ",", ":", " ", "\u{301}", "é", "\u{AC00}", "😀", "?",
            ">",
        ]
        let size = Int.random(in: sizes, using: &random)
        var text: [UInt8] = []
        while let scalar = palette.randomElement(using: &random), text.count + UTF8.width(scalar) <= size {
            text += String(Character(scalar)).utf8
        }
        return text.allSatisfy { $0 == 0x20 } && sizes.lowerBound > 0 ? [0x78] : text
    }

    @Test("a JWS in any form other than the one we write is refused")
    func refused() throws {
        let good = try Fixtures.unsignedJWS(Fixtures.promotionalOffer())
        let (header, claims) = (good.header, good.claims)
        #expect(throws: Never.self) { try CompactJWS(Self.text(header, claims)) }
        func replacing(_ json: [UInt8], _ one: String, _ other: String) -> [UInt8] {
            let changed = String(decoding: json, as: UTF8.self).replacing(one, with: other)
            #expect(changed != String(decoding: json, as: UTF8.self), "\(one)")
            return Array(changed.utf8)
        }
        for (one, other) in [
            ("ES256", "none"), ("ES256", "HS256"), ("ES256", "es256"), ("ES256", "ES384"), ("JWT", "jwt"),
            ("\"alg\":\"ES256\",", ""), ("\"typ\"", "\"x5c\":\"\",\"typ\""), ("TESTKEY123", ""), ("TESTKEY123", "A-B"),
        ] {
            #expect(throws: CompactJWSFault.self, "\(other)") {
                try CompactJWS(Self.text(replacing(header, one, other), claims))
            }
        }
        for (one, other) in [
            ("1767225600", "1767225600.0"), ("1767225600", "\"1767225600\""), ("1767225600", "1.7672256e9"),
            ("\"promotional-offer\"", "[\"promotional-offer\"]"), ("promotional-offer", "appstoreconnect-v1"),
            ("promotional-offer", "introductory-offer-eligibility"), ("\"iat\"", "\"exp\":1767229200,\"iat\""),
            ("7f8a1c7e-3f2b", "7F8A1C7E-3F2B"), ("57246542-96fe", "57246542-96FE"), ("7f8a1c7e-", "7f8a1c7e"),
            ("\"2000000123456789\"", "2000000123456789"), ("\"2000000123456789\"", "null"),
            ("\"2000000123456789\"", "\"\""), ("\"productId\"", "\"productID\""), ("}", ",\"a\":1}"), ("}", ""),
            ("\"bid\":\"com.example.app\",", ""), ("\"nonce\"", "\"aud\""),
        ] {
            #expect(throws: CompactJWSFault.self, "\(other)") {
                try CompactJWS(Self.text(header, replacing(claims, one, other)))
            }
        }
        for count in [0, 63, 65, 70] {
            #expect(throws: CompactJWSFault.self) {
                try CompactJWS(Self.text(header, claims, signature: [UInt8](repeating: 1, count: count)))
            }
        }
        let text = Self.text(header, claims)
        let parts = text.split(separator: UInt8(ascii: ".")).map(Array.init)
        for order in [[1, 0, 2], [0, 2, 1], [2, 1, 0], [0, 1], [0, 1, 2, 2]] {
            #expect(throws: CompactJWSFault.self, "\(order)") {
                try CompactJWS(Array(order.map { parts[$0] }.joined(separator: [UInt8(ascii: ".")])))
            }
        }
        for other in [text + [0x3D], text + [0x0A], [0x20] + text, [], [0x2E, 0x2E]] as [[UInt8]] {
            #expect(throws: CompactJWSFault.self) { try CompactJWS(other) }
        }
    }

    @Test("base64 and base64url agree with Foundation, and each byte sequence has only one encoding")
    func base64() throws {
        var random = SplitMix64(seed: 8)
        for count in 0...200 {
            let bytes = (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            let standard = bytes.foundationBase64
            #expect(String(decoding: Base64.text(of: bytes), as: UTF8.self) == standard)
            #expect(Base64.bytes(of: standard.utf8) == bytes)
            let url = standard.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
            #expect(String(decoding: Base64URL.text(of: bytes), as: UTF8.self) == url)
            #expect(Base64URL.bytes(of: url.utf8) == bytes)
        }
        for text in ["A", "AA", "AAA", "AB==", "AAB=", "AA=A", "A===", "====", "AAA=AAA=", "AA-_", "AA==\n", " AAAA"] {
            #expect(Base64.bytes(of: text.utf8) == nil, "\(text)")
        }
        for text in ["A", "AB", "AAB", "AA==", "AA+/", "AAAA="] {
            #expect(Base64URL.bytes(of: text.utf8) == nil, "\(text)")
        }
    }
}

extension JSONWriter {
    fileprivate static func object(_ write: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter()
        write(&writer)
        return writer.finish()
    }
}
