import Foundation
import OfferCore
import OfferCrypto
import OfferEligibility
import OfferExplanations
import OfferService
import TestSupport
import Testing

@testable import OfferConfiguration

/// V1 signatures with deliberate mistakes. An explanation must name each mistake.
@Suite("V1 signature explanations")
struct ExplanationTests {
    private static let right: [(name: String, text: String)] = [
        ("appBundleID", "com.Example.app"), ("keyID", "TESTKEY123"), ("productIdentifier", "pro.monthly"),
        ("offerID", "Winback_3m"), ("customer", "d3b07384-d113-4ec6-a7b1-6f1c2f5e9b10"),
        ("nonce", Fixtures.nonceText), ("timestamp", "1767225600123"),
    ]

    /// A signature and the values presented with it, with one or two mistakes.
    struct Mistake: CustomStringConvertible, Sendable {
        let description: String
        /// The expected causes, in order; empty for a valid signature.
        let causes: [Cause]
        var field: String?
        /// Field values to sign instead of the correct ones.
        var signed: [String: String] = [:]
        /// JSON values to present instead of the correct ones.
        var presented: [String: String] = [:]
        var customerName = "appAccountToken"
        var order = [0, 1, 2, 3, 4, 5, 6]
        var separator = "\u{2063}"
        var start = ""
        var end = ""
        var hashes = 0
        var key = "TESTKEY123"
        /// The hash function with which the openssl command signs; nil to sign correctly.
        var digest: String?
        /// Encodes the DER signature as text.
        var encode: @Sendable ([UInt8]) -> String = { $0.foundationBase64 }

        init(_ description: String, _ causes: Cause..., change: (inout Mistake) -> Void = { _ in }) {
            self.description = description
            self.causes = causes
            change(&self)
        }
    }

    private static func signed(_ description: String, _ cause: Cause, _ name: String, _ text: String) -> Mistake {
        Mistake(description, cause) { mistake in
            mistake.field = name == "customer" ? "appAccountToken" : name
            mistake.signed[name] = text
        }
    }

    private static func presented(
        _ description: String, _ cause: Cause, _ name: String, _ json: String, field: String? = nil,
        change: (inout Mistake) -> Void = { _ in }
    ) -> Mistake {
        Mistake(description, cause) { mistake in
            mistake.field = field ?? (name == "customer" ? "appAccountToken" : name)
            mistake.presented[name] = json
            change(&mistake)
        }
    }

    private static func encoded(
        _ description: String, _ cause: Cause, _ encode: @escaping @Sendable ([UInt8]) -> String
    ) -> Mistake {
        Mistake(description, cause) { mistake in
            mistake.field = "signature"
            mistake.encode = encode
        }
    }

    static let mistakes: [Mistake] =
        fields + otherTexts + timestamps + assembly + digests + keys + signatures + unprovable + pairs

    private static let fields = [
        signed("nonce in upper case", .upperCaseUUID, "nonce", right[5].text.uppercased()),
        signed("token in upper case", .upperCaseUUID, "customer", right[4].text.uppercased()),
        presented(
            "token presented and signed in mixed case", .upperCaseUUID, "customer",
            "\"D3b07384-d113-4ec6-a7b1-6f1c2f5e9b10\""
        ) { $0.signed["customer"] = "D3b07384-d113-4ec6-a7b1-6f1c2f5e9b10" },
        presented(
            "username in upper case, signed as a token", .letterCase, "customer",
            #""D3B07384-D113-4EC6-A7B1-6F1C2F5E9B10""#, field: "applicationUsername"
        ) {
            $0.customerName = "applicationUsername"
        },
        signed("bundle ID in lower case", .letterCase, "appBundleID", "com.example.app"),
        presented(
            "bundle ID presented in lower case, unlike the known app", .letterCase, "appBundleID",
            "\"com.example.app\""),
        signed("another known app", .otherValue, "appBundleID", "com.example.other"),
        signed("another known product", .otherValue, "productIdentifier", "pro.yearly"),
        signed("another known offer", .otherValue, "offerID", "half"),
        signed("product in upper case", .letterCase, "productIdentifier", "PRO.MONTHLY"),
        signed("offer in lower case", .letterCase, "offerID", "winback_3m"),
        Mistake("product and offer swapped", .swappedProductAndOffer) {
            $0.signed = ["productIdentifier": right[3].text, "offerID": right[2].text]
        },
        presented(
            "zero-width space after the product", .invisibleCharacter, "productIdentifier", #""pro.monthly\u200B""#),
        presented("no-break space after the offer", .invisibleCharacter, "offerID", #""Winback_3m\u00A0""#),
        signed("optional token not unwrapped", .customerUndefined, "customer", "Optional(\"\(right[4].text)\")"),
        signed("token not signed", .customerNotSigned, "customer", ""),
    ]

    private static let otherTexts =
        ["undefined", "null", "None"].map { signed("\($0) signed", .customerUndefined, "customer", $0) } + [
            Mistake("token left out", .customerLeftOut) {
                $0.order = [0, 1, 2, 3, 5, 6]
                $0.field = "appAccountToken"
            }
        ]
        + right.flatMap { name, text in
            [
                signed("space after \(name)", .whiteSpace, name, text + " "),
                signed("line break after \(name)", .whiteSpace, name, text + "\n"),
                presented("\(name) presented with a space", .whiteSpace, name, "\"\(text) \""),
                presented("\(name) presented with a leading tab", .whiteSpace, name, #""\t\#(text)""#),
            ].filter { $0.description != "line break after timestamp" }  // that is a line break after the payload
        }

    private static let timestamps = [
        signed("signed in seconds", .timestampInSeconds, "timestamp", "1767225600"),
        signed("signed in seconds with a fraction", .timestampInSeconds, "timestamp", "1767225600.123"),
        presented("presented in seconds, signed in milliseconds", .timestampInSeconds, "timestamp", "1767225600") {
            $0.signed["timestamp"] = "1767225600000"
        },
        signed("signed in microseconds", .timestampInMicroseconds, "timestamp", "1767225600123000"),
        signed("signed in nanoseconds", .timestampInMicroseconds, "timestamp", "1767225600123000000"),
        signed("signed with a fraction", .timestampFormat, "timestamp", "1767225600123.0"),
        signed("signed with an exponent", .timestampFormat, "timestamp", "1.767225600123e+12"),
        presented("presented and signed with a leading zero", .timestampFormat, "timestamp", "\"01767225600123\"") {
            $0.signed["timestamp"] = "01767225600123"
        },
    ]

    private static let assembly =
        [
            "", "|", ",", " ", "\u{200B}", "\n", "\\u2063", "\u{2062}", "\u{2064}", "\r\n", "&#8291;",
            "\u{E2}\u{81}\u{A3}",
        ].map { text in
            Mistake("separator \(text.debugDescription)", .separator) { $0.separator = text }
        }
        + [
            [1, 0, 2, 3, 4, 5, 6], [0, 2, 3, 4, 5, 6, 1], [0, 1, 2, 3, 4, 6, 5], [6, 1, 2, 3, 4, 5, 0],
            [0, 1, 3, 4, 2, 5, 6],
        ].map { order in
            Mistake("order \(order)", .fieldOrder) { $0.order = order }
        }
        + [
            Mistake("line break at the end", .textAroundPayload) { $0.end = "\n" },
            Mistake("separator at the end", .textAroundPayload) { $0.end = "\u{2063}" },
            Mistake("separator at the start", .textAroundPayload) { $0.start = "\u{2063}" },
            Mistake("byte-order mark at the start", .textAroundPayload) { $0.start = "\u{FEFF}" },
            Mistake("digest hashed again", .hashedTwice) { $0.hashes = 1 },
            Mistake("hexadecimal digest hashed again", .hashedTwice) { $0.hashes = 2 },
        ]

    private static let digests =
        [
            ("sha1", Cause.signatureSHA1), ("sha224", .signatureSHA224), ("sha384", .signatureSHA384),
            ("sha512", .signatureSHA512),
        ].flatMap { digest, cause in
            [
                Mistake("signed with \(digest)", cause) {
                    $0.field = "signature"
                    $0.digest = digest
                },
                Mistake("raw, and signed with \(digest)", .signatureRaw, cause) {
                    $0.field = "signature"
                    $0.digest = digest
                    $0.encode = { raw($0).foundationBase64 }
                },
                Mistake("an unknown key ID, and signed with \(digest)", .wrongKey, cause) {
                    $0.field = "keyID"
                    $0.digest = digest
                    $0.signed["keyID"] = "UNKNOWN123"
                    $0.presented["keyID"] = "\"UNKNOWN123\""
                },
            ]
        }

    private static let keys = [
        presented("key ID of another key presented", .keyIDDiffers, "keyID", "\"OTHERKEY12\""),
        presented("unknown key ID presented", .keyIDDiffers, "keyID", "\"UNKNOWN123\""),
        presented("key ID in lower case", .letterCase, "keyID", "\"testkey123\""),
        Mistake("signed with another key", .wrongKey) {
            $0.key = "OTHERKEY12"
            $0.field = "keyID"
        },
        presented("signed with an unknown key", .unknownKeyID, "keyID", "\"UNKNOWN123\"") {
            $0.signed["keyID"] = "UNKNOWN123"
            $0.key = "UNKNOWN123"
        },
    ]

    private static let signatures = [
        encoded("raw", .signatureRaw) { raw($0).foundationBase64 },
        encoded("base64url", .signatureBase64URL) { base64URL($0) },
        encoded("without padding", .signatureUnpadded) {
            // Without + and /, base64 and base64url are the same.
            $0.foundationBase64.replacing("=", with: "")
        },
        encoded("base64 twice", .signatureBase64Twice) { Array($0.foundationBase64.utf8).foundationBase64 },
        encoded("base64 three times", .signatureBase64Twice) {
            Array(Array($0.foundationBase64.utf8).foundationBase64.utf8).foundationBase64
        },
        encoded("DER with extra leading zeros", .signatureNotDER) { der in
            sequence(raw(der).prefix(32), raw(der).suffix(32)) { [0, 0] + $0 }.foundationBase64
        },
        encoded("DER with negative numbers", .signatureNotDER) { der in
            sequence(raw(der).prefix(32), raw(der).suffix(32)) { Array($0) }.foundationBase64
        },
        encoded("DER with an overlong length", .signatureNotDER) { ([0x30, 0x81] + $0.dropFirst()).foundationBase64 },
        encoded("DER followed by the rest of its buffer", .signatureNotDER) {
            ($0 + [UInt8](repeating: 0, count: 80 - $0.count)).foundationBase64
        },
        encoded("last character changed", .base64BitsLeft) { der in
            let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
            let text = der.foundationBase64
            let padding = text.drop { $0 != "=" }
            let last = text.dropLast(padding.count).last.flatMap { digits.firstIndex(of: $0) } ?? 0
            return text.dropLast(padding.count + 1) + String(digits[last + 1]) + padding
        },
        encoded("hexadecimal", .signatureHexadecimal) { $0.hex },
        encoded("hexadecimal in upper case", .signatureHexadecimal) { $0.hex.uppercased() },
        encoded("broken into lines", .signatureWhiteSpace) {
            let text = $0.foundationBase64
            return "\(text.prefix(64))\\r\\n\(text.dropFirst(64))\\n"
        },
        encoded("plus replaced by a space", .signaturePlusLost) { $0.foundationBase64.replacing("+", with: " ") },
        encoded("percent-encoded", .signaturePercentEncoded) {
            $0.foundationBase64.replacing("+", with: "%2B").replacing("/", with: "%2f").replacing("=", with: "%3D")
        },
        encoded("not base64", .signatureUnreadable) { _ in "*" },
        encoded("empty", .signatureUnreadable) { _ in "" },
        encoded("cut off", .signatureMalformed) { Array($0.dropLast(4)).foundationBase64 },
        encoded("63 bytes", .signatureMalformed) { Array(raw($0).dropLast()).foundationBase64 },
    ]

    /// Mistakes that can be named without proof. None of these signatures verifies.
    private static let unprovable = [
        presented("empty product", .emptyField, "productIdentifier", "\"\""),
        presented("separator within the offer", .forbiddenCharacter, "offerID", #""a\u2063b""#),
        presented("nonce that is not a UUID", .notUUID, "nonce", "\"7f8a1c7e\""),
        presented("token that is not a UUID", .notUUID, "customer", "\"user\""),
        presented("timestamp that is not a number", .timestampNotNumber, "timestamp", "\"now\""),
        presented("timestamp before 1970", .timestampNotNumber, "timestamp", "-1767225600123"),
        presented("microseconds, unverifiable", .timestampInMicroseconds, "timestamp", "1767225600123456"),
        presented("key ID in lower case, unverifiable", .letterCase, "keyID", "\"testkey123\""),
        presented("seconds, unverifiable", .timestampInSeconds, "timestamp", "1767225600"),
        presented("undefined presented", .customerUndefined, "customer", "\"undefined\"", field: "applicationUsername")
        {
            $0.customerName = "applicationUsername"
        },
        presented("no customer presented", .customerMissing, "customer", "null", field: "applicationUsername") {
            $0.customerName = "applicationUsername"
        },
        presented("empty customer presented", .customerMissing, "customer", "\"\""),
        Mistake("unrelated text signed", .unexplained),
        Mistake("raw, and unrelated text signed", .signatureRaw, .unexplained) {
            $0.field = "signature"
            $0.encode = { raw($0).foundationBase64 }
        },
    ].map { mistake in
        var mistake = mistake
        mistake.end = "!!"
        return mistake
    }

    private static let pairs = [
        Mistake("nonce and token in upper case", .upperCaseUUID, .upperCaseUUID) {
            $0.field = "nonce"
            $0.signed = ["nonce": right[5].text.uppercased(), "customer": right[4].text.uppercased()]
        },
        Mistake("upper case and seconds", .upperCaseUUID, .timestampInSeconds) {
            $0.field = "nonce"
            $0.signed = ["nonce": right[5].text.uppercased(), "timestamp": "1767225600"]
        },
        Mistake("raw, and joined by spaces", .signatureRaw, .separator) {
            $0.field = "signature"
            $0.separator = " "
            $0.encode = { raw($0).foundationBase64 }
        },
        Mistake("another key, and no token", .keyIDDiffers, .customerNotSigned) {
            $0.field = "keyID"
            $0.signed = ["keyID": "OTHERKEY12", "customer": ""]
            $0.key = "OTHERKEY12"
        },
    ]

    // MARK: Tests

    @Test("an explanation names each mistake within 300 verifications, with proof where possible", arguments: mistakes)
    func named(mistake: Mistake) throws {
        let world = try World()
        let (json, payload) = try world.present(mistake)
        let explanation = try world.explain(json)
        #expect(explanation.findings.map(\.cause) == mistake.causes, "\(json)\n\(explanation)")
        #expect(explanation.findings.first?.field == mistake.field)
        #expect(!explanation.isGood && !explanation.verifies)
        #expect(world.count <= 300, "the number of verifications")
        if let digest = mistake.digest {
            let name = "SHA-\(digest.dropFirst(3))"
            #expect(explanation.sentences.contains("made with \(name). The App Store accepts only ECDSA with SHA-256"))
        }
        // The signed payload is the proof.
        if let signed = explanation.signedPayload {
            let digest = ["", "SHA-256(", "hexadecimal(SHA-256("][mistake.hashes]
            #expect(signed.hasPrefix(digest + (mistake.start.isEmpty ? payload.prefix(1) : "")))
            #expect(explanation.keyID == mistake.key)
        }
        #expect(explanation.warnings == [] || explanation.warnings == [.searchCutShort])
    }

    @Test("the mistakes cover every cause that applies to a V1 signature")
    func complete() {
        let named = Set(Self.mistakes.flatMap(\.causes))
        let tokenCauses = Cause.allCases.filter { $0.rawValue.hasPrefix("jws") || $0.rawValue.hasPrefix("claim") }
        #expect(named.union(tokenCauses) == Set(Cause.allCases))
    }

    @Test("valid signatures have no findings", arguments: 0..<100 as Range<UInt64>)
    func notAccused(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let characters = Array("abcXYZ019._- |,é😀")
        func text(_ sizes: ClosedRange<Int>) -> String {
            let count = Int.random(in: sizes, using: &random)
            let text = String((0..<count).compactMap { _ in characters.randomElement(using: &random) })
            return "a" + text + "z"
        }
        let customer: Customer =
            Bool.random(using: &random)
            ? try Customer(appAccountToken: Nonce(using: &random).uuid.utf8)
            : try Customer(applicationUsername: Array((Bool.random(using: &random) ? text(0...40) : "").utf8))
        let age = Int64.random(in: 0...86_400_000, using: &random)
        let payload = OfferPayload(
            appBundleID: try BundleID(utf8: Array(text(0...20).utf8)), keyID: try Fixtures.keyID(),
            productIdentifier: try ProductID(utf8: Array(text(0...40).utf8)),
            offerID: try OfferID(utf8: Array(text(0...40).utf8)), customer: customer, nonce: Nonce(using: &random),
            timestamp: Timestamp(milliseconds: Fixtures.timestamp.milliseconds - age))
        let world = try World()
        let signed = SignedOffer(payload: payload, signature: try world.key.signature(for: payload))
        for json in [signed.commandOutput, signed.v1Body] {
            let explanation = try world.explain(String(decoding: json, as: UTF8.self))
            #expect(explanation.verifies && explanation.isGood && explanation.warnings == [], "\(explanation)")
            #expect(explanation.signedPayload == nil && explanation.keyID == "TESTKEY123")
        }
        #expect(world.count == 2)
    }

    @Test("the published vectors also verify with upper-case nonces", arguments: try OfferVectors.load().vectors)
    func vectors(vector: OfferVectors.Vector) throws {
        let key = try VerifyingKey(der: [UInt8](OfferVectors.load().publicKey))
        let signed = SignedOffer(payload: try vector.payload, signature: OfferSignature(der: [UInt8](vector.signature)))
        let candidate = CandidateKey(id: try vector.payload.keyID, standing: .inService, accepts: key.verify)
        let explainer = Explainer(keys: [candidate], now: Fixtures.timestamp)
        let json = String(decoding: signed.commandOutput, as: UTF8.self)
            .replacing(vector.nonce, with: vector.nonce.uppercased())
        let explanation = try explainer.explanation(of: Evidence(World.object(json)))
        #expect(explanation.isGood && explanation.verifies)
    }

    @Test("an old or future timestamp, a retired key and an undefined customer only cause warnings")
    func warnings() throws {
        let world = try World()
        for (age, warnings) in [
            (0, []), (86_400_000, []), (86_400_001, [.olderThan24Hours]), (-60_000, []), (-60_001, [.aheadOfClock]),
        ] as [(Int64, [ExplanationWarning])] {
            let (json, _) = try world.present(
                Mistake("") {
                    let time = String(Fixtures.timestamp.milliseconds - age)
                    $0.signed["timestamp"] = time
                    $0.presented["timestamp"] = time
                })
            let explanation = try world.explain(json)
            #expect(explanation.verifies && explanation.isGood)
            #expect(explanation.warnings == warnings)
        }
        for (standing, warning) in [
            (CandidateKey.Standing.retired, ExplanationWarning.keyRetired), (.outOfService, .keyOutOfService),
        ] {
            let world = try World(standing: standing)
            let explanation = try world.explain(world.present(Mistake("")).json)
            #expect(explanation.verifies && explanation.isGood)
            #expect(explanation.warnings == [warning])
        }
        for text in ["undefined", "[object Object]", "Optional(7)"] {
            let undefined = try world.present(
                Mistake("") {
                    $0.customerName = "applicationUsername"
                    $0.signed["customer"] = text
                    $0.presented["customer"] = "\"\(text)\""
                })
            let explanation = try world.explain(undefined.json)
            #expect(explanation.verifies && explanation.warnings == [.customerUndefined])
        }
    }

    @Test("invalid fields are reported even if the signature covers them")
    func fatalAlthoughVerified() throws {
        let world = try World()
        for (name, text, cause) in [
            ("timestamp", "1767225600", Cause.timestampInSeconds), ("nonce", "n", .notUUID),
            ("offerID", "", .emptyField), ("offerID", "a\u{2063}b", .forbiddenCharacter),
            ("productIdentifier", "a\u{85}b", .forbiddenCharacter), ("customer", "a\u{2063}b", .notUUID),
            ("offerID", "half\u{200B}", .invisibleCharacter), ("offerID", "half ", .whiteSpace),
            ("customer", "\(Fixtures.nonceText) ", .whiteSpace),
            ("timestamp", "1767225600123000", .timestampInMicroseconds), ("timestamp", "-1", .timestampNotNumber),
        ] {
            let (json, _) = try world.present(
                Mistake("") {
                    $0.signed[name] = text
                    $0.presented[name] = "\"\(text)\""
                })
            let explanation = try world.explain(json)
            #expect(explanation.verifies && !explanation.isGood)
            #expect(explanation.cause == cause)
        }
    }

    @Test("a username may end in a space, but not in a line break, and may not contain U+2063")
    func usernames() throws {
        let world = try World()
        for (text, json, cause) in [
            ("user ", "user ", nil), ("❤️", "❤️", nil), ("user\n", "user\\n", .whiteSpace),
            ("a\u{2063}b", "a\u{2063}b", .forbiddenCharacter),
        ] as [(String, String, Cause?)] {
            let (evidence, _) = try world.present(
                Mistake("") {
                    $0.customerName = "applicationUsername"
                    $0.signed["customer"] = text
                    $0.presented["customer"] = "\"\(json)\""
                })
            let explanation = try world.explain(evidence)
            #expect(explanation.verifies && explanation.cause == cause, "\(explanation)")
        }
    }

    @Test("a search with many keys stops after 300 verifications and warns")
    func bounded() throws {
        // A JWS that does not verify uses part of the budget.
        let jws = ",\"compactJWS\":\"eyJhbGciOiJFUzI1NiJ9.e30.\(String(repeating: "A", count: 86))\"}"
        for end in ["}", jws] {
            let world = try World(moreKeys: 100)
            let explanation = try world.explain(
                world.present(Mistake("") { $0.end = "!" }).json.dropLast() + end)
            #expect(explanation.cause == .unexplained)
            #expect(explanation.warnings == [.searchCutShort])
            #expect(explanation.jwsVerdict?.findings.contains(Finding(.unexplained)) == (end == "}" ? nil : true))
            #expect(explanation.jwsVerdict?.warnings.isEmpty != false)
            #expect(world.count == 300)
        }
    }

    @Test("every StoreKit error has advice", arguments: StoreKitError.allCases)
    func storeKit(error: StoreKitError) throws {
        let world = try World()
        let (good, _) = try world.present(Mistake(""))
        let (bad, _) = try world.present(Mistake("") { $0.end = "!" })
        for name in error.names {
            let capital = name.prefix(1).uppercased() + name.dropFirst()
            for spelling in [name, ".\(name)", "SKError.\(name)", "SKError\(capital)", "Product.PurchaseError.\(name)"]
            {
                let member = #","storeKitError":"\#(spelling)"}"#
                let valid = try world.explain(good.dropLast() + member)
                #expect(valid.storeKit?.error == error.names[0])
                let invalid = try world.explain(bad.dropLast() + member)
                #expect(invalid.storeKit?.error == error.names[0])
                if error == .invalidSignature {
                    #expect(valid.storeKit?.check.contains("revoked") == true)
                    #expect(invalid.storeKit?.check != valid.storeKit?.check)
                }
            }
        }
        let unknown = try world.explain(good.dropLast() + #","storeKitError":"no\u200Bthing"}"#)
        #expect(unknown.storeKit?.error == "no<U+200B>thing")
        #expect(unknown.storeKit?.check.contains("StoreKit has no error with this name") == true)
        let blanks = try world.explain(
            good.dropLast() + ",\"storeKitError\":\"a\u{3164}\u{2800}\u{FFA0}\u{34F}\u{FE0F} é\"}")
        #expect(blanks.storeKit?.error == "a<U+3164><U+2800><U+FFA0><U+034F><U+FE0F> é")
    }

    @Test(
        "the errors of purchases with seats are known by StoreKit's names, and say that the signature is not the cause",
        arguments: [
            ("multiSeatPurchaseDisabled", "cannot be bought for several seats"),
            ("seatReductionNotAllowed", "seats"), ("invalidQuantity", "except for seats"),
        ])
    func seats(name: String, text: String) throws {
        let world = try World()
        let (good, _) = try world.present(Mistake(""))
        let advice = try world.explain(good.dropLast() + #","storeKitError":"\#(name)"}"#).storeKit
        #expect(advice?.error == name)
        #expect(advice?.check.contains(text) == true && advice?.check.contains("unrelated to the signature") == true)
    }

    @Test("the raw values of SKError.Code are accepted as names")
    func storeKitCodes() {
        #expect(StoreKitError("12") == .invalidSignature && StoreKitError("18") == .ineligibleForOffer)
        #expect(StoreKitError("11") == .invalidOfferIdentifier && StoreKitError("13") == .missingOfferParams)
        #expect(StoreKitError("14") == .invalidOfferPrice && StoreKitError("2") == nil && StoreKitError("") == nil)
    }

    @Test("each known code is understood as programs and people print it", arguments: StoreKitError.allCases)
    func storeKitTexts(error: StoreKitError) {
        for code in error.codes {
            let error12 =
                #"Error Domain=SKErrorDomain Code=\#(code) "Invalid." UserInfo={NSLocalizedDescription=On iOS 7}"#
            for text in [
                code, " \(code) ", "Error \(code)", "error: \(code).", "Code=\(code)", "Error code \(code)",
                "SKErrorDomain Code=\(code)", "SKErrorDomain, code: \(code)", "SKErrorDomain error \(code)",
                "SKErrorDomain:\(code)", "skerrordomain code=\(code)", "SKErrorCode(rawValue: \(code))",
                "StoreKit.SKError.Code(rawValue: \(code))", "SKError \(code)",
                "The operation couldn’t be completed. (SKErrorDomain error \(code).)",
                "Der Vorgang konnte nicht abgeschlossen werden. (SKErrorDomain-Fehler \(code).)",
                "操作を完了できませんでした。（SKErrorDomainエラー\(code)）", error12, "SKError(_nsError: \(error12))",
                "\n\(error12)\n",
                #"Error Domain=ASDErrorDomain Code=500 "x" UserInfo={NSUnderlyingError=0x1 {\#(error12)}}"#,
                #"Error Domain=SKErrorDomain Code=0 "Unknown" UserInfo={NSUnderlyingError=0x1 {\#(error12)}}"#,
            ] { #expect(StoreKitError(text) == error, "\(text)") }
        }
        for name in error.names where name != "unknown" {
            for text in [
                "SKError.Code.\(name)", "StoreKit.Product.PurchaseError.\(name)", "Purchase failed: \(name)",
                "failed(\(name))", name.uppercased(),
            ] { #expect(StoreKitError(text) == error, "\(text)") }
        }
    }

    @Test(
        "a code of another domain, an unknown code and a number among other words have no advice",
        arguments: [
            #"Error Domain=ASDErrorDomain Code=12 "x""#, "ASDServerErrorDomain error 12", "NSURLErrorDomain Code=-12",
            "Product.PurchaseError error 12", "(StoreKit.StoreKitError error 1.)", "Error -12",
            "SKErrorDomain Code=-12",
            "SKErrorDomain Code=2", "SKErrorDomain Code=112", "SKErrorDomain on iOS 12", "Error 1 of 12", "iOS 18.12",
            "An unknown thing happened", "Error", "SKErrorDomain", "SKErrorDomain Code=", "12.12",
        ])
    func otherErrors(text: String) { #expect(StoreKitError(text) == nil) }

    @Test("the text of an NSError gets the advice of its code, up to 4096 bytes")
    func storeKitLongText() throws {
        let world = try World()
        let (good, _) = try world.present(Mistake(""))
        let start = #"Error Domain=SKErrorDomain Code=12 \"Invalid signature\" UserInfo={x="#
        let count = 4096 - start.replacing("\\", with: "").utf8.count
        func explain(_ count: Int) throws -> Explanation {
            let text = start + String(repeating: "x", count: count)
            return try world.explain(good.dropLast() + ",\"storeKitError\":\"\(text)\"}")
        }
        #expect(try explain(count).storeKit?.error == "invalidSignature")
        #expect(throws: MemberError.self) { try explain(count + 1) }
    }

    @Test("buying with another billing plan than the offer's is a warning")
    func billingPlan() throws {
        let world = try World()
        for (offer, plan, isWrong) in [
            ("committed", "BILLED_UPFRONT", true), ("committed", "MONTHLY", false), ("half", "MONTHLY", false),
            ("committed", nil, false),
        ] {
            let billingPlan = plan.map { #","billingPlanType":"\#($0)""# } ?? ""
            let explanation = try world.explain(
                """
                {"bundleID":"com.Example.app","productID":"pro.yearly","offerID":"\(offer)","applicationUsername":"u",\
                "keyID":"TESTKEY123","nonce":"\(Fixtures.nonceText)","timestamp":1767225600000,"signature":"AA=="\
                \(billingPlan)}
                """)
            #expect(explanation.warnings.contains(.anotherBillingPlan) == isWrong, "\(offer) \(plan ?? "none")")
        }
    }

    // MARK: Signature encodings

    /// Encodes a signature as r followed by s.
    private static func raw(_ der: [UInt8]) -> [UInt8] {
        func padded(_ integer: ArraySlice<UInt8>) -> [UInt8] {
            let digits = integer.drop { $0 == 0 }
            return [UInt8](repeating: 0, count: 32 - digits.count) + digits
        }
        let size = Int(der[3])
        return padded(der[4..<(4 + size)]) + padded(der[(6 + size)...])
    }

    /// Encodes a SEQUENCE of two INTEGERs, whose bytes `write` produces.
    private static func sequence(
        _ r: ArraySlice<UInt8>, _ s: ArraySlice<UInt8>, _ write: (ArraySlice<UInt8>) -> [UInt8]
    ) -> [UInt8] {
        let (r, s) = (write(r), write(s))
        let integers: [UInt8] = [0x02, UInt8(r.count)] + r + [0x02, UInt8(s.count)] + s
        return [0x30, UInt8(integers.count)] + integers
    }

    private static func base64URL(_ bytes: [UInt8]) -> String {
        bytes.foundationBase64.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// An explainer with two known keys and a catalogue, and the keys to sign with.
    final class World {
        let key: SigningKey
        private let other: SigningKey
        private let unknown: SigningKey
        private let pem: [UInt8]
        private let explainer: Explainer
        private let counter = Counter()
        var count: Int { counter.count }

        final class Counter: @unchecked Sendable {
            // Only the test that created the counter uses it.
            var count = 0
        }

        init(standing: CandidateKey.Standing = .inService, moreKeys: Int = 0) throws {
            pem = try PrivateKeyPEM.generate()
            let (key, other) = try (SigningKey(text: pem), Fixtures.makeSigningKey())
            (self.key, self.other, unknown) = (key, other, try Fixtures.makeSigningKey())
            let counter = counter
            func candidate(
                _ id: String, _ key: SigningKey, _ standing: CandidateKey.Standing = .inService
            ) throws -> CandidateKey {
                CandidateKey(id: try Fixtures.keyID(id), standing: standing) { signature, message, digest in
                    counter.count += 1
                    return try key.verify(signature, of: message, hashedBy: digest)
                }
            }
            let catalogue = try #require(
                ConfigurationFile.read(
                    Array(
                        """
                        apps:
                          - bundleID: com.Example.app
                            products:
                              - {productID: pro.monthly, offers: [Winback_3m]}
                              - productID: pro.yearly
                                offers: [half, {offerID: committed, billingPlan: MONTHLY}]
                          - {bundleID: com.example.other, products: [{productID: p, offers: [o]}]}
                        """.utf8), name: "c"
                ).file.catalogue)
            let more = try (0..<moreKeys).map { try candidate("MORE\($0)", other) }
            explainer = Explainer(
                keys: try [candidate("OTHERKEY12", other), candidate("TESTKEY123", key, standing)] + more,
                names: KnownNames(catalogue: catalogue), now: Fixtures.timestamp)
        }

        func explain(_ json: some StringProtocol) throws -> Explanation {
            try explainer.explanation(of: Evidence(Self.object(json)))
        }

        static func object(_ json: some StringProtocol) throws -> JSONObject {
            guard case .object(let object) = try JSONReader.read(Array(json.utf8)) else { throw CancellationError() }
            return object
        }

        /// Signs with the openssl command.
        private func sign(_ message: [UInt8], hashedBy digest: String) throws -> [UInt8] {
            let folder = try TemporaryFolder()
            try folder.write(pem, to: "key.p8")
            try folder.write(message, to: "message")
            let outcome = try Command.run(
                "openssl", ["dgst", "-\(digest)", "-sign", "key.p8", "-out", "signature", "message"],
                directory: folder.url)
            try #require(outcome.status == 0, "\(outcome.standardError)")
            return try folder.read("signature")
        }

        /// Returns evidence with a mistake, as JSON, and the signed payload.
        func present(_ mistake: Mistake) throws -> (json: String, payload: String) {
            let texts = ExplanationTests.right.map { mistake.signed[$0.name] ?? $0.text }
            let fields = mistake.order.map { texts[$0] }.joined(separator: mistake.separator)
            let text = mistake.start + fields + mistake.end
            var message = Array(text.utf8)
            if mistake.hashes > 0 { message = try SHA256.hash(message) }
            if mistake.hashes > 1 { message = Array(message.hex.utf8) }
            let pair = ["TESTKEY123": key, "OTHERKEY12": other][mistake.key] ?? unknown
            let members = ExplanationTests.right.map { name, text in
                let json = mistake.presented[name] ?? (name == "timestamp" ? text : "\"\(text)\"")
                return "\"\(name == "customer" ? mistake.customerName : name)\":\(json)"
            }
            let signature = try ExplanationTests.encoding(mistake) {
                guard let digest = mistake.digest else { return try pair.sign(message) }
                return try self.sign(message, hashedBy: digest)
            }
            return ("{" + members.joined(separator: ",") + ",\"signature\":\"\(signature)\"}", text)
        }
    }

    /// Signs until the text shows the mistake, because not every signature has padding or a +.
    private static func encoding(_ mistake: Mistake, _ sign: () throws -> [UInt8]) throws -> String {
        for _ in 0..<1000 {
            let der = try sign()
            let base64 = der.foundationBase64
            let showsMistake =
                switch mistake.causes.first {
                case .signatureUnpadded, .signaturePercentEncoded, .base64BitsLeft: base64.contains("=")
                // At 72 bytes, both numbers have a leading zero, without which they would be negative.
                case .signatureNotDER: der.count == 72
                case .signatureBase64URL: base64.contains("+") || base64.contains("/")
                case .signaturePlusLost: base64.contains("+")
                default: true
                }
            if showsMistake { return mistake.encode(der) }
        }
        throw CancellationError()
    }
}
