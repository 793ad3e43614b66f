import Crypto
import Foundation
import NIOConcurrencyHelpers
import OfferCore
import OfferCrypto
import OfferEligibility
import OfferExplanations
import TestSupport
import Testing

/// JWSs with deliberate mistakes, signed by swift-crypto. An explanation must name each mistake.
@Suite("JWS explanations")
struct TokenExplanationTests {
    private static let issuerID = "57246542-96fe-1a63-e053-0824d011072a"

    private static func issuerIDs() throws -> IssuerIDs {
        IssuerIDs(ofAllApps: try IssuerID(utf8: Array(issuerID.utf8)))
    }

    /// The claims of a promotional offer, with their values as JSON.
    private static let claims: [(name: String, json: String)] = [
        ("iss", "\"\(issuerID)\""), ("iat", "1767225600"), ("aud", "\"promotional-offer\""),
        ("bid", "\"com.example.app\""), ("nonce", "\"\(Fixtures.nonceText)\""), ("productId", "\"pro.monthly\""),
        ("offerIdentifier", "\"winback_3m\""), ("transactionId", "\"2000000123456789\""),
    ]

    struct Mistake: CustomStringConvertible, Sendable {
        let description: String
        let cause: Cause?
        let field: String?
        /// Whether the signature verifies despite the mistake.
        var verifies = true
        var header = ["alg": "\"ES256\"", "kid": "\"TESTKEY123\"", "typ": "\"JWT\""]
        /// Claims to replace or add, as JSON; an empty string removes a claim.
        var claims: [String: String] = [:]
        /// The expected values to present with the JWS, as JSON.
        var expected: [String: String] = [:]
        var key = "TESTKEY123"
        var encode: @Sendable ([UInt8]) -> String = { base64URL($0) }
        /// Builds the bytes to sign from the header JSON, the claims JSON, and the first two segments.
        var message: @Sendable (_ header: [UInt8], _ claims: [UInt8], _ input: [UInt8]) throws -> [UInt8] = {
            _, _, input in input
        }
        var sign: @Sendable (P256.Signing.PrivateKey, Data) throws -> P256.Signing.ECDSASignature = {
            try $0.signature(for: $1)
        }
        var signature: @Sendable (P256.Signing.ECDSASignature) -> [UInt8] = { [UInt8]($0.rawRepresentation) }
        /// Changes the finished JWS.
        var send: @Sendable (String) -> String = { $0 }

        init(_ description: String, _ cause: Cause?, _ field: String? = nil, change: (inout Mistake) -> Void = { _ in })
        {
            self.description = description
            self.cause = cause
            self.field = field
            change(&self)
        }
    }

    private static func claim(_ name: String, _ json: String, _ cause: Cause) -> Mistake {
        Mistake("\(name) \(json)", cause, name) { $0.claims[name] = json }
    }

    private static func signed(
        _ description: String, _ cause: Cause,
        _ message: @escaping @Sendable ([UInt8], [UInt8], [UInt8]) throws -> [UInt8]
    ) -> Mistake {
        Mistake(description, cause) {
            $0.verifies = false
            $0.message = message
        }
    }

    private static func expected(_ name: String, _ json: String, _ cause: Cause, _ field: String) -> Mistake {
        Mistake("expected \(name) \(json)", cause, field) { $0.expected[name] = json }
    }

    private static let introductory = [
        "aud": "\"introductory-offer-eligibility\"", "offerIdentifier": "", "allowIntroductoryOffer": "true",
    ]

    private static func introductory(_ name: String, _ json: String, _ cause: Cause) -> Mistake {
        Mistake("introductory \(name) \(json)", cause, name) {
            $0.claims = introductory.merging([name: json]) { $1 }
        }
    }

    private static func header(_ name: String, _ json: String, _ cause: Cause, verifies: Bool = true) -> Mistake {
        Mistake("\(name) \(json)", cause, name) {
            $0.header[name] = json
            $0.verifies = verifies
        }
    }

    private static func commerce(_ request: String, _ cause: Cause) -> Mistake {
        Mistake("request \(request)", cause, "request") {
            $0.claims = [
                "aud": "\"advanced-commerce-api\"", "offerIdentifier": "", "productId": "", "request": "\"\(request)\"",
            ]
        }
    }

    static let mistakes: [Mistake] = claimMistakes + textMistakes + differences

    private static let claimMistakes = [
        claim("exp", "1767229200", .jwsExpiry), claim("aud", #"["promotional-offer"]"#, .jwsAudienceList),
        claim("aud", "\"appstoreconnect-v1\"", .jwsAudience),
        claim("aud", "\"introductory-offer-eligibility\"", .jwsAudience), claim("aud", "", .claimMissing),
        claim("aud", "1", .claimType), claim("iat", "1767225600000", .jwsIssuedInMilliseconds),
        claim("iat", "1767225600.5", .claimType), claim("iat", "\"1767225600\"", .claimType),
        claim("iat", "", .claimMissing), claim("iss", "\"issuer\"", .notUUID), claim("iss", "", .claimMissing),
        claim("iss", "\"\(Fixtures.nonceText)\"", .claimDiffers), claim("bid", "", .claimMissing),
        claim("bid", "\"com.Example.app\"", .letterCase), claim("nonce", "\"7f8a\"", .notUUID),
        claim("nonce", "", .claimMissing), claim("nonce", "\"\"", .claimEmpty), claim("productId", "", .claimMissing),
        claim("offerIdentifier", "null", .claimEmpty), claim("transactionId", "2000000123456789", .claimType),
        claim("transactionId", "\"\"", .claimEmpty), introductory("allowIntroductoryOffer", "\"true\"", .claimType),
        introductory("transactionId", "", .claimMissing), introductory("aud", "\"promotional-offer\"", .jwsAudience),
        commerce("eyJhIjo_fQ", .claimEncoding), commerce("bm8ganNvbg==", .claimEncoding),
        commerce("eyJh\\nIjoxfQ==", .claimEncoding), commerce("e30=", .claimEmpty),
        commerce("eyJhIjoxLCJhIjoyfQ==", .jwsDuplicateName), claim("iat", "-1767225600", .claimType),
        claim("productId", #""pro\u2063monthly""#, .forbiddenCharacter),
        claim("bid", #""a\u0000b""#, .forbiddenCharacter),
        claim("offerIdentifier", "\" winback_3m\"", .whiteSpace), claim("transactionId", #""1\n""#, .whiteSpace),
        introductory("allowIntroductoryOffer", "null", .claimEmpty), header("crit", #"["exp"]"#, .jwsHeader),
        header("b64", "false", .jwsHeader), header("x5c", #"["MII"]"#, .jwsHeader),
        claim("productId", #""pro.monthly\u200B""#, .invisibleCharacter), header("kid", "\"\"", .claimEmpty),
        header("kid", "null", .claimEmpty),
        header("kid", "\"testkey123\"", .letterCase, verifies: false),
        header("kid", "\"TESTKEY123 \"", .whiteSpace, verifies: false),
        Mistake("kid in lower case, with a signature over unrelated text", .letterCase, "kid") {
            $0.header["kid"] = "\"testkey123\""
            $0.message = { $2 + [0] }
            $0.verifies = false
        },
        Mistake("no typ", .jwsType, "typ") { $0.header["typ"] = nil },
        Mistake("no kid", .claimMissing, "kid") {
            $0.header["kid"] = nil
        },
        Mistake("alg for another curve", .jwsAlgorithm, "alg") {
            $0.header["alg"] = "\"ES384\""
            $0.verifies = false
        },
    ]

    private static let textMistakes = [
        Mistake("DER with an extra zero", .jwsSignatureDER, "compactJWS") {
            $0.signature = { signature in
                let raw = [UInt8](signature.rawRepresentation)
                return [0x30, 0x46, 0x02, 0x21, 0] + raw.prefix(32) + [0x02, 0x21, 0] + raw.suffix(32)
            }
            $0.verifies = false
        },
        Mistake("alg none and no signature", .jwsAlgorithm, "alg") {
            $0.header["alg"] = "\"none\""
            $0.signature = { _ in [] }
            $0.verifies = false
        },
        Mistake("no signature", .jwsSignatureMalformed, "compactJWS") {
            $0.signature = { _ in [] }
            $0.verifies = false
        },
        Mistake("last character cut off", .jwsSignatureMalformed, "compactJWS") {
            $0.send = { String($0.dropLast()) }
            $0.verifies = false
        },
        Mistake("last character with unused bits set", .base64BitsLeft, "compactJWS") {
            $0.send = { $0.dropLast() + (["A": "B", "Q": "R", "g": "h", "w": "x"][$0.suffix(1)] ?? "") }
            $0.verifies = false
        },
        Mistake("duplicate claim", .jwsDuplicateName, "compactJWS") {
            $0.claims["x"] = "1,\"x\":2"
            $0.verifies = false
        },
        Mistake("DER", .jwsSignatureDER, "compactJWS") {
            $0.signature = { [UInt8]($0.derRepresentation) }
            $0.verifies = false
        },
        Mistake("signature cut off", .jwsSignatureMalformed, "compactJWS") {
            $0.signature = { $0.rawRepresentation.dropLast(1).map(\.self) }
            $0.verifies = false
        },
        Mistake("header and claims with padding", .jwsPadded, "compactJWS") {
            $0.encode = { $0.foundationBase64.replacing("+", with: "-").replacing("/", with: "_") }
            $0.verifies = false
        },
        Mistake("standard base64", .jwsStandardBase64, "compactJWS") {
            $0.encode = { $0.foundationBase64.replacing("=", with: "") }
            // The base64 of this value contains a slash.
            $0.claims["x"] = "\"???>>>~~~\""
            $0.verifies = false
        },
        Mistake("line break at the end", .jwsWhiteSpace, "compactJWS") {
            $0.send = { $0 + "\\n" }
            $0.verifies = false
        },
        Mistake("two segments", .jwsUnreadable, "compactJWS") {
            $0.send = { $0.split(separator: ".").prefix(2).joined(separator: ".") }
            $0.verifies = false
        },
        Mistake("claims that are not JSON", .jwsUnreadable, "compactJWS") {
            $0.send = { "e30.bm8." + ($0.split(separator: ".").last ?? "") }
            $0.verifies = false
        },
        Mistake("signed with SHA-1", .signatureSHA1, "compactJWS") {
            $0.sign = { try $0.signature(for: Insecure.SHA1.hash(data: $1)) }
            $0.verifies = false
        },
        Mistake("signed with SHA-384", .signatureSHA384, "compactJWS") {
            $0.sign = { try $0.signature(for: SHA384.hash(data: $1)) }
            $0.verifies = false
        },
        Mistake("signed with SHA-512", .signatureSHA512, "compactJWS") {
            $0.sign = { try $0.signature(for: SHA512.hash(data: $1)) }
            $0.verifies = false
        },
        signed("digest hashed again", .hashedTwice) { try OfferCrypto.SHA256.hash($2) },
        signed("hexadecimal digest hashed again", .hashedTwice) { Array(try OfferCrypto.SHA256.hash($2).hex.utf8) },
        signed("claims only", .jwsSignedOverOtherText) { _, claims, _ in claims },
        signed("unencoded JSON", .jwsSignedOverOtherText) { header, claims, _ in header + [UInt8(ascii: ".")] + claims
        },
        signed("line break added", .jwsSignedOverOtherText) { $2 + [UInt8(ascii: "\n")] },
        signed("unrelated text", .unexplained) { $2 + [0] },
        Mistake("signed with another key", .wrongKey, "kid") {
            $0.key = "OTHERKEY12"
            $0.verifies = false
        },
        Mistake("signed with an unknown key", .unknownKeyID, "kid") {
            $0.header["kid"] = "\"UNKNOWN123\""
            $0.key = "UNKNOWN123"
            $0.verifies = false
        },
    ]

    private static let differences = [
        expected("bundleID", "\"com.example.other\"", .claimDiffers, "bid"),
        expected("bundleID", "\"com.Example.app\"", .letterCase, "bid"),
        expected("productID", "\"pro.yearly\"", .claimDiffers, "productId"),
        expected("productID", "\"pro.monthly \"", .whiteSpace, "productId"),
        expected("offerID", "\"half\"", .claimDiffers, "offerIdentifier"),
        expected("transactionID", "\"1\"", .claimDiffers, "transactionId"),
        expected("keyID", "\"OTHERKEY12\"", .claimDiffers, "kid"),
        expected("allowIntroductoryOffer", "true", .jwsAudience, "aud"),
        Mistake("the opposite decision expected", .claimDiffers, "allowIntroductoryOffer") {
            $0.claims = introductory
            $0.expected["allowIntroductoryOffer"] = "false"
        },
    ]

    /// A valid JWS whose request is larger or deeper than any that this service signs.
    private static func large(_ request: String) -> Mistake {
        Mistake("commerce with a request of \(request.count) characters", nil) {
            $0.claims = [
                "aud": "\"advanced-commerce-api\"", "offerIdentifier": "", "productId": "", "transactionId": "",
                "request": "\"\(Array(request.utf8).foundationBase64)\"",
            ]
        }
    }

    private static let validTokens: [Mistake] = [
        Mistake("promotional", nil),
        Mistake("promotional, with all expected values", nil) {
            $0.expected = [
                "bundleID": "\"com.example.app\"", "productIdentifier": "\"pro.monthly\"", "offerID": "\"winback_3m\"",
                "transactionID": "\"2000000123456789\"", "keyID": "\"TESTKEY123\"", "applicationUsername": "\"u\"",
            ]
        },
        Mistake("promotional, without a transaction", nil) { $0.claims["transactionId"] = "" },
        Mistake("introductory", nil) { $0.claims = introductory },
        Mistake("introductory, not allowed", nil) {
            $0.claims = introductory.merging(["allowIntroductoryOffer": "false"]) { $1 }
            $0.expected = ["allowIntroductoryOffer": "false"]
        },
        Mistake("commerce", nil) {
            $0.claims = [
                "aud": "\"advanced-commerce-api\"", "offerIdentifier": "", "productId": "", "transactionId": "",
                "request": "\"eyJhIjoxfQ==\"",
            ]
        },
        Mistake("many claims", nil) { for number in 0..<70 { $0.claims["x\(number)"] = "\(number)" } },
        large("{" + (0..<70).map { "\"x\($0)\":[]" }.joined(separator: ",") + "}"),
        large("{\"a\":" + String(repeating: "[", count: 20) + String(repeating: "]", count: 20) + "}"),
    ]

    // MARK: Tests

    @Test("an explanation names each mistake", arguments: mistakes)
    func named(mistake: Mistake) throws {
        let world = try World()
        let explanation = try world.explain(world.present(mistake))
        #expect(explanation.cause == mistake.cause, "\(explanation)")
        #expect(explanation.findings.first?.field == mistake.field)
        #expect(explanation.verifies == mistake.verifies)
        #expect(!explanation.isGood)
        #expect(explanation.findings.count <= 2)
    }

    @Test("a wrong claim and an invalid signature are both reported")
    func both() throws {
        let world = try World()
        let explanation = try world.explain(
            world.present(
                Mistake("", nil) {
                    $0.claims["exp"] = "1767229200"
                    $0.message = { _, _, input in input + [0] }
                }))
        #expect(explanation.findings.map(\.cause) == [.jwsExpiry, .unexplained])
        #expect(!explanation.verifies && explanation.keyID == nil)
    }

    @Test("the mistakes cover every cause that applies to a JWS")
    func complete() {
        let tokenCauses = Cause.allCases.filter { $0.rawValue.hasPrefix("jws") || $0.rawValue.hasPrefix("claim") }
        #expect(Set(tokenCauses).subtracting(Self.mistakes.compactMap(\.cause)) == [])
    }

    @Test("a valid JWS has no findings", arguments: 0..<100 as Range<UInt64>)
    func notAccused(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let world = try World()
        var one = Self.validTokens[Int(seed) % Self.validTokens.count]
        one.claims["nonce"] = "\"\(Nonce(using: &random))\""
        one.claims["iat"] = "\(1_767_225_600 - Int64.random(in: 0...3600, using: &random))"
        one.claims["x"] = "\"\(random.next())\""  // unknown claims are allowed
        let explanation = try world.explain(world.present(one))
        #expect(explanation.isGood && explanation.verifies && explanation.warnings == [], "\(one) \(explanation)")
        #expect(explanation.keyID == "TESTKEY123" && explanation.signedPayload == nil)
        #expect(explanation.payload.contains("\"bid\":\"com.example.app\""))
    }

    @Test("upper-case UUIDs, an old or future iat, and a claim from another kind of JWS cause warnings")
    func warnings() throws {
        let world = try World()
        for (claims, warning) in [
            (["nonce": "\"\(Fixtures.nonceText.uppercased())\""], ExplanationWarning.nonceInCapitals),
            (["iss": "\"\(Self.issuerID.uppercased())\""], .issuerInCapitals), (["iat": "1767139199"], .issuedLongAgo),
            (["iat": "1767225661"], .aheadOfClock), (["allowIntroductoryOffer": "true"], .claimOfOtherKind),
            (Self.introductory.merging(["offerIdentifier": "\"winback_3m\""]) { $1 }, .claimOfOtherKind),
        ] {
            let explanation = try world.explain(world.present(Mistake("", nil) { $0.claims = claims }))
            #expect(explanation.isGood && explanation.warnings == [warning], "\(explanation)")
        }
    }

    @Test("r and s of the wrong size or out of range do not verify; r and s with leading zeros do")
    func rawSignatures() throws {
        let world = try World()
        let order = [UInt8](Data(base64Encoded: "/////wAAAAD//////////7zm+q2nF56E87nKwvxjJVE=") ?? Data())
        let zero = [UInt8](repeating: 0, count: 32)
        let others: [(String, @Sendable ([UInt8]) -> [UInt8])] = [
            ("empty", { _ in [] }), ("63 bytes", { $0.dropLast() }), ("65 bytes", { $0 + [0] }),
            ("65 bytes, leading zero", { [0] + $0 }), ("66 bytes", { [0] + $0.prefix(32) + [0] + $0.suffix(32) }),
            ("128 bytes", { $0 + $0 }), ("r only", { $0.dropLast(32) }), ("all zero", { _ in zero + zero }),
            ("r is 0", { zero + $0.suffix(32) }), ("s is 0", { $0.prefix(32) + zero }),
            ("r is the order", { order + $0.suffix(32) }), ("s is the order", { $0.prefix(32) + order }),
            ("r and s are the order", { _ in order + order }),
            ("all ones", { _ in [UInt8](repeating: 0xFF, count: 64) }),
            ("s before r", { $0.suffix(32) + $0.prefix(32) }), ("little-endian", { $0.reversed() }),
        ]
        for (name, change) in others {
            let json = try world.present(Mistake("", nil) { $0.signature = { change([UInt8]($0.rawRepresentation)) } })
            #expect(try !world.explain(json).verifies, "\(name)")
        }
        // In about one in 128 signatures, r or s has a leading zero byte, which DER omits.
        var short = 0
        while short < 2 {
            let hasLeadingZero = NIOLockedValueBox(false)
            let json = try world.present(
                Mistake("", nil) { mistake in
                    mistake.signature = { signature in
                        let raw = [UInt8](signature.rawRepresentation)
                        hasLeadingZero.withLockedValue { $0 = raw[0] == 0 || raw[32] == 0 }
                        return raw
                    }
                })
            if hasLeadingZero.withLockedValue({ $0 }) {
                short += 1
                #expect(try world.explain(json).isGood)
            }
        }
    }

    @Test("the published JWS verifies")
    func published() throws {
        let source = try String(
            contentsOf: MarkdownBlock.repository.appending(path: "Tests/Vectors/jws-promotional-offer.json"),
            encoding: .utf8)
        let jws = try #require(source.firstMatch(of: /"compactJWS": "(eyJ[^"]*)"/)).output.1
        let key = try VerifyingKey(der: [UInt8](OfferVectors.load().publicKey))
        let candidate = CandidateKey(id: try Fixtures.keyID("ABCDE12345"), standing: .inService, accepts: key.verify)
        let explainer = Explainer(
            keys: [candidate], issuerIDs: try Self.issuerIDs(), now: Fixtures.timestamp
        )
        guard case .object(let object) = try JSONReader.read(Array("{\"compactJWS\":\"\(jws)\"}".utf8)) else { return }
        let explanation = try explainer.explanation(of: Evidence(object))
        #expect(explanation.isGood && explanation.verifies, "\(explanation)")
    }

    fileprivate static func base64URL(_ bytes: [UInt8]) -> String {
        bytes.foundationBase64.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    private struct World {
        private let keys: [String: P256.Signing.PrivateKey]
        private let explainer: Explainer

        init() throws {
            let ids = ["TESTKEY123", "OTHERKEY12", "UNKNOWN123"]
            let keys = Dictionary(uniqueKeysWithValues: ids.map { ($0, P256.Signing.PrivateKey()) })
            self.keys = keys
            let candidates = try ["OTHERKEY12", "TESTKEY123"].map { id in
                let key = try VerifyingKey(der: [UInt8](#require(keys[id]).publicKey.derRepresentation))
                return CandidateKey(id: try Fixtures.keyID(id), standing: .inService, accepts: key.verify)
            }
            let app = Catalogue.App(offers: [:])
            let catalogue = Catalogue(apps: [try BundleID(utf8: Array("com.example.app".utf8)): app])
            explainer = Explainer(
                keys: candidates, names: KnownNames(catalogue: catalogue),
                issuerIDs: try TokenExplanationTests.issuerIDs(),
                now: Fixtures.timestamp)
        }

        func explain(_ json: String) throws -> Explanation {
            guard case .object(let object) = try JSONReader.read(Array(json.utf8)) else { throw CancellationError() }
            return try explainer.explanation(of: Evidence(object))
        }

        func present(_ mistake: Mistake) throws -> String {
            let own = TokenExplanationTests.claims.map { ($0.name, mistake.claims[$0.name] ?? $0.json) }
            let more = mistake.claims.filter { claim in !own.contains { $0.0 == claim.key } }.map { ($0.key, $0.value) }
            func object(_ members: [(String, String)]) -> [UInt8] {
                let texts = members.filter { !$0.1.isEmpty }.map { "\"\($0.0)\":\($0.1)" }
                return Array("{\(texts.joined(separator: ","))}".utf8)
            }
            let (header, claims) = (object(mistake.header.map { ($0.key, $0.value) }), object(own + more))
            let input = mistake.encode(header) + "." + mistake.encode(claims)
            let message = try mistake.message(header, claims, Array(input.utf8))
            let signature = try mistake.sign(#require(keys[mistake.key]), Data(message))
            let jws = mistake.send(input + "." + TokenExplanationTests.base64URL(mistake.signature(signature)))
            let expected = mistake.expected.map { ",\"\($0.key)\":\($0.value)" }.joined()
            return "{\"compactJWS\":\"\(jws)\"\(expected)}"
        }
    }
}
