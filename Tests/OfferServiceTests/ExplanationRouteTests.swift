import Dispatch
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import OfferCore
import OfferCrypto
import OfferExplanations
import OfferHTTP
import OfferService
import TestSupport
import Testing

@testable import OfferConfiguration

@Suite("Explanation route")
struct ExplanationRouteTests {
    private static let path = "/v1/explanations"

    private static func signed(_ routes: TestService, token: String? = nil) -> String {
        routes.post(
            "/v1/promotional-offers", #"{"bundleID":"a.b","productID":"p","offerID":"o","applicationUsername":"u"}"#,
            authorization: token
        ).text
    }

    @Test("the service confirms its own signature and names a changed field")
    func explained() async throws {
        let routes = try TestService()
        let signed = Self.signed(routes)
        let good = await routes.postLater(Self.path, signed)
        #expect(good.status == 200)
        #expect(
            good.text.hasPrefix(
                #"{"verifies":true,"keyID":"TESTKEY123","cause":null,"explanation":"The signature is valid"#))
        #expect(good.json["payload"] as? String == "a.b|TESTKEY123|p|o|u|\(Self.nonce(in: signed))|1767225600000")
        #expect(good.json["signedPayload"] == nil && good.json["storeKit"] == nil)

        let changed = await routes.postLater(Self.path, signed.replacing(#""u""#, with: #""u ""#))
        #expect(changed.json["verifies"] as? Bool == false)
        #expect(changed.json["cause"] as? String == "white_space")
        #expect(changed.json["field"] as? String == "applicationUsername")
        #expect(changed.json["signedPayload"] as? String == good.json["payload"] as? String)
    }

    private static func nonce(in json: String) -> String {
        json.firstMatch(of: /"nonce":"([^"]*)"/).map { String($0.output.1) } ?? ""
    }

    @Test("a JWS presented with a V1 signature is also explained, and both must be valid")
    func both() async throws {
        let routes = try TestService(issuerIDs: IssuerIDs(ofAllApps: Fixtures.issuerID()))
        let answer = routes.post(
            "/v1/promotional-offers",
            #"{"bundleID":"a.b","productID":"p","offerID":"o","applicationUsername":"u","transactionID":"1"}"#
        ).text
        func explained(_ old: String, _ new: String) async -> (v1: [String: Any], jws: [String: Any]) {
            let json = await routes.postLater(Self.path, answer.replacing(old, with: new)).json
            return (json, json["compactJWS"] as? [String: Any] ?? [:])
        }
        let good = await explained("}}", "}}")
        #expect(good.v1["verifies"] as? Bool == true && good.v1["cause"] is NSNull)
        #expect(good.jws["verifies"] as? Bool == true && good.jws["cause"] is NSNull)
        #expect((good.jws["payload"] as? String)?.contains("\"transactionId\":\"1\"") == true)
        let ofAnother = await explained(
            #""transactionID":"1""#, #""transactionID":"2","storeKitError":"invalidSignature""#)
        #expect(ofAnother.v1["cause"] is NSNull)
        #expect(ofAnother.jws["cause"] as? String == "claim_differs")
        #expect(ofAnother.jws["field"] as? String == "transactionId")
        let advice = (ofAnother.v1["storeKit"] as? [String: Any])?["check"] as? String
        #expect(advice?.contains("fix the cause") == true)
        let ofAnotherUser = await explained(#""u""#, #""v""#)
        #expect(ofAnotherUser.v1["cause"] as? String == "unexplained" && ofAnotherUser.jws["cause"] is NSNull)
        // kid is not compared with the V1 signature's key ID.
        let otherKey = await explained(#""keyID":"TESTKEY123""#, #""keyID":"OTHERKEY12""#)
        #expect(otherKey.v1["cause"] as? String == "key_id_differs" && otherKey.jws["cause"] is NSNull)
        #expect(await explained(#""compactJWS":"e"#, #""compactJWS":"_"#).jws["cause"] as? String == "jws_unreadable")
        #expect(
            await routes.postLater(Self.path, answer.replacing(/"compactJWS":"[^"]*"/, with: #""compactJWS":null"#))
                .status == 200)

        let without = answer.replacing(/"signature":\{[^}]*\}/, with: #""signature":null,"nonce":null,"keyID":null"#)
        let alone = await routes.postLater(Self.path, without)
        #expect(alone.json["verifies"] as? Bool == true && alone.json["compactJWS"] == nil, "\(alone.text)")
        let named = await routes.postLater(Self.path, without.replacing(#""nonce":null"#, with: #""nonce":"n""#))
        #expect(named.json["code"] as? String == "unknown_field" && named.json["field"] as? String == "nonce")
    }

    @Test("a caller needs the explain scope")
    func scope() async throws {
        let routes = try TestService(callers: [.test("signer", [.sign]), .test("support", [.explain])])
        let signed = Self.signed(routes, token: "Bearer token-of-signer")
        for (token, status, code) in [
            (nil, 401, "credentials_missing"), ("Bearer unknown-token", 401, "credentials_refused"),
            ("Bearer token-of-signer", 403, "scope_missing"), ("Bearer token-of-support", 200, nil),
        ] as [(String?, Int, String?)] {
            let answer = await routes.postLater(Self.path, signed, authorization: token)
            #expect(answer.status == status)
            #expect(answer.json["code"] as? String == code)
        }
    }

    @Test("a caller restricted to some apps gets explanations only for those apps, in any letter case")
    func apps() async throws {
        let text =
            "apps: [{bundleID: a.b, products: [{productID: p, offers: [o]}]}, {bundleID: c.d, products: [{productID: p, offers: [o]}]}]"
        let routes = try TestService(
            catalogue: ConfigurationFile.read(Array(text.utf8), name: "c").file.catalogue,
            callers: [.test("all"), .test("some", [.explain], apps: ["c.d"])])
        let signed = Self.signed(routes, token: "Bearer token-of-all")
        func answer(_ app: String, _ caller: String) async -> HTTPResponse {
            await routes.postLater(
                Self.path, signed.replacing("\"a.b\"", with: "\"\(app)\""), token: "token-of-\(caller)")
        }
        #expect(await answer("a.b", "some").json["code"] as? String == "offer_not_served")
        // The signature is for an app that the caller may not ask about.
        #expect(await answer("C.d", "some").json["cause"] as? String == "unexplained")
        #expect(await answer("C.d", "all").json["cause"] as? String == "other_value")
        #expect(await answer("A.B", "all").json["cause"] as? String == "letter_case")
        let ofOther = signed.replacing("\"a.b\"", with: "\"c.d\"").dropLast()
        let other = await routes.postLater(
            Self.path, ofOther + ",\"compactJWS\":\"eyJhbGciOiJFUzI1NiJ9.eyJiaWQiOiJhLmIifQ.AA\"}",
            token: "token-of-some")
        #expect(other.json["code"] as? String == "offer_not_served", "the caller may not ask about the app in the JWS")
        // The JWS itself names its app, whatever the request says.
        func segment(_ json: String) -> String {
            Data(json.utf8).base64EncodedString().replacing("=", with: "").replacing("+", with: "-")
                .replacing("/", with: "_")
        }
        let header = segment(#"{"alg":"ES256","kid":"NOSUCHKEY1","typ":"JWT"}"#)
        for claims in [#"{"bid":"a.b"}"#, "{}"] {
            let jws = "\(header).\(segment(claims)).\(String(repeating: "A", count: 86))"
            for more in ["", #","bundleID":"c.d""#] where claims != "{}" || more.isEmpty {
                let answer = await routes.postLater(
                    Self.path, "{\"compactJWS\":\"\(jws)\"\(more)}", token: "token-of-some")
                #expect(answer.json["code"] as? String == "offer_not_served", "\(claims)\(more)")
            }
        }
    }

    @Test("no payload is assembled after the verification budget is spent")
    func bounded() throws {
        let text = String(repeating: "Aa ", count: 300)
        let evidence =
            #"{"bundleID":" \#(text)","productID":" \#(text)","offerID":" \#(text)","keyID":"k","nonce":"N ","#
            + #""timestamp":1,"applicationUsername":"\#(text)","signature":"MAYCAQECAQE="}"#
        let calls = NIOLockedValueBox(0)
        let keys = try (0..<3).map { number in
            CandidateKey(id: try Fixtures.keyID("TESTKEY00\(number)"), standing: .inService) { _, _, _ in
                calls.withLockedValue { $0 += 1 }
                return false
            }
        }
        let explainer = Explainer(keys: keys, now: Fixtures.timestamp)
        let explanation = try explainer.explanation(of: Evidence(OfferRouteTests.object(Array(evidence.utf8))))
        #expect(explanation.warnings.contains(.searchCutShort))
        // A payload is assembled only for a verification that the budget allows.
        #expect(calls.withLockedValue { $0 } == 300)
    }

    @Test("the caller's rate limit applies to explanations")
    func limit() async throws {
        let routes = try TestService(callers: [.test("support", [.explain])], limits: .with(\.tokens, 1, 2))
        var statuses: [Int] = []
        for _ in 0..<3 {
            let answer = await routes.postLater(
                Self.path, #"{"compactJWS":"x"}"#, token: "token-of-support")
            statuses.append(answer.status)
        }
        #expect(statuses == [200, 200, 429])
    }

    @Test("an explanation costs its client as many verifications as its search takes")
    func cost() async throws {
        let routes = try TestService(
            callers: [.test("signer", [.sign]), .test("one", [.explain]), .test("two", [.explain])],
            limits: .with(\.explanations, 1, 5))
        let signed = Self.signed(routes, token: "Bearer token-of-signer")
        func explain(_ text: String, by caller: String = "one") async -> HTTPResponse {
            await routes.postLater(Self.path, text, token: "token-of-\(caller)")
        }
        // Evidence that needs no verification costs nothing, and a good signature costs one.
        for _ in 0..<10 { #expect(await explain(#"{"compactJWS":"x"}"#).status == 200) }
        #expect(await explain(signed).json["verifies"] as? Bool == true)
        // The search for a cause overdraws the bucket once. Afterwards, nothing is explained to this caller.
        #expect(await explain(signed.replacing(#""u""#, with: #""v""#)).json["cause"] as? String == "unexplained")
        let refused = await explain(signed)
        #expect(refused.status == 429 && refused.json["code"] as? String == "rate_limited")
        #expect(try #require(refused.retryAfter) > 0)
        #expect(await explain("{}").status == 400, "an invalid request is refused for what is wrong with it")
        #expect(await explain(signed, by: "two").status == 200, "each caller has its own limit")
        routes.advanceClock(by: .seconds(1000))
        #expect(await explain(signed).status == 200)
    }

    /// A key whose verifications wait until the test lets go.
    private final class HeldKey: SigningKeyPair {
        private let key: SigningKey
        private let isHeld = NIOLockedValueBox(false)
        private let release = DispatchSemaphore(value: 0)
        var fingerprint: String { key.fingerprint }

        init() throws { key = try Fixtures.makeSigningKey() }

        func hold() { isHeld.withLockedValue { $0 = true } }

        func letGo() {
            isHeld.withLockedValue { $0 = false }
            release.signal()
        }

        func sign(_ message: [UInt8]) throws -> [UInt8] { try key.sign(message) }

        func verify(_ signature: [UInt8], of message: [UInt8]) throws -> Bool {
            // A test that fails does not wait for ever.
            if isHeld.withLockedValue({ $0 }), release.wait(timeout: .now() + 60) == .timedOut { letGo() }
            return try key.verify(signature, of: message)
        }
    }

    @Test("explanations that run at the same time cannot overdraw the limit together")
    func concurrent() async throws {
        let key = try HeldKey()
        let routes = try TestService(pair: key, limits: .with(\.explanations, 1, 5))
        let signed = Self.signed(routes)
        key.hold()
        var statuses: [Int] = []
        await withTaskGroup(of: Int.self) { group in
            for _ in 0..<5 { group.addTask { await routes.postLater(Self.path, signed).status } }
            for await status in group {
                statuses.append(status)
                if statuses.count == 4 { key.letGo() }
            }
        }
        #expect(statuses == [429, 429, 429, 429, 200])
        // What the one explanation did not cost is available again.
        #expect(await routes.postLater(Self.path, signed).status == 200)
    }

    @Test("without callers, explanations are limited by address")
    func costWithoutCallers() async throws {
        var limits = Limits.with(\.explanations, 1, 1)
        let routes = try TestService(limits: limits)
        let signed = Self.signed(routes)
        func status(_ peer: String?) async -> Int { await routes.postLater(Self.path, signed, peer: peer).status }
        for peer in [nil, "192.0.2.1", "192.0.2.2"] {
            let statuses = [await status(peer), await status(peer)]
            #expect(statuses == [200, 429], "\(peer ?? "unknown")")
        }
        #expect(await status("127.0.0.1") == 429, "programs on this machine count together")
        limits.explanations = nil
        let unlimited = try TestService(limits: limits)
        for _ in 0..<3 { #expect(await unlimited.postLater(Self.path, Self.signed(unlimited)).status == 200) }
    }

    @Test("an explanation that no thread starts in time gets 503")
    func wait() async throws {
        let routes = try TestService(parts: { $0.front.searchWait = .zero })
        let answer = await routes.postLater(Self.path, #"{"compactJWS":"x"}"#)
        #expect(answer.status == 503)
        #expect(answer.json["code"] as? String == "overloaded")
        // An invalid request is refused without waiting.
        #expect(await routes.postLater(Self.path, "{}").status == 400)
    }

    private static let evidence =
        #"{"bundleID":"a","productID":"p","offerID":"o","keyID":"k","nonce":"n","timestamp":1,"signature":"s"}"#

    @Test(
        "strings in the evidence can have any content, but its structure is checked",
        arguments: [
            (#""a""#, #""\#(String(repeating: "x", count: 1024))""#, 200),
            (#""a""#, #""\#(String(repeating: "x", count: 1025))""#, 400), (#""a""#, "1", 400), (#""a""#, "null", 400),
            (#""n""#, #""\u0000\u2063""#, 200), ("1", "1e400", 200), ("1", "-9223372036854775808", 200),
            ("1", "99999999999999999999", 200), ("1", "true", 400), (#""s""#, #"{"signature":"s"}"#, 400),
            (#""s""#, #""\#(String(repeating: "A", count: 2048))""#, 200),
            (#""s""#, #""\#(String(repeating: "A", count: 2049))""#, 400),
            (#""k""#, #""k","misspelt":"x""#, 400), (#""k""#, #""k","applicationUsername":null"#, 200),
            (#""k""#, #""k","applicationUsername":"","appAccountToken":"""#, 400),
            (#""k""#, #""k","storeKitError":12"#, 400), (#""k""#, #""k","storeKitError":"12""#, 200),
            (#""k""#, #""k","appBundleID":"b""#, 400), (#""k""#, #""k","keyID":"b""#, 400),
        ])
    func bounds(text: String, other: String, status: Int) async throws {
        let routes = try TestService()
        let answer = await routes.postLater(Self.path, Self.evidence.replacing(text, with: other))
        #expect(answer.status == status, "\(answer.text)")
        #expect(!answer.json.isEmpty)
    }

    @Test("an explanation signs nothing and logs no values from the request")
    func neitherSignedNorLogged() async throws {
        let routes = try TestService(pair: StubKeyPair(sign: { _ in throw CancellationError() }))
        let evidence = Self.evidence.replacing(
            #""s""#, with: #""bWFya2VkLXNpZ25hdHVyZQ==","applicationUsername":"marked-user""#)
        #expect(await routes.postLater(Self.path, evidence).status == 200)
        for mark in ["marked-user", "bWFya2Vk"] { #expect(!routes.log.text.contains(mark)) }
        #expect(routes.log.text.contains("signature explained"))
    }

    @Test("a libcrypto error gets 503 instead of a verdict on the signature")
    func fault() async throws {
        let routes = try TestService(pair: StubKeyPair(verify: { _, _ in throw CancellationError() }))
        let der = ([0x30, 6, 2, 1, 1, 2, 1, 1] as [UInt8]).foundationBase64
        let answer = await routes.postLater(Self.path, Self.evidence.replacing(#""s""#, with: "\"\(der)\""))
        #expect(answer.status == 503)
        #expect(routes.log.text.contains("verification failed"))
    }
}
