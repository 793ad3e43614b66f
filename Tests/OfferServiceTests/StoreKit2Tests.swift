import Foundation
import NIOCore
import OfferCore
import OfferCrypto
import OfferEligibility
import OfferExplanations
import OfferHTTP
import OfferService
import TestSupport
import Testing

/// The JWS returned with a promotional offer's signature, and the endpoints that return only a JWS.
@Suite("Signing for StoreKit 2")
struct StoreKit2Tests {
    private let key: SigningKey
    private let routes: TestService

    init() throws {
        key = try Fixtures.makeSigningKey()
        routes = try TestService(pair: key, issuerIDs: IssuerIDs(ofAllApps: Fixtures.issuerID()))
    }

    private static func offer(_ more: String = "") -> String {
        #"{"bundleID":"a","productID":"p","offerID":"o","applicationUsername":"u"\#(more)}"#
    }

    private static let introductory =
        #"{"bundleID":"a","productID":"p","allowIntroductoryOffer":true,"transactionID":"2000000123456789"}"#

    private static let transaction = #","transactionID":"2000000123456789""#

    /// Returns the JWS of a response after verifying its signature.
    private func jws(in json: [String: Any], sourceLocation: SourceLocation = #_sourceLocation) throws -> CompactJWS {
        let text = try #require(json["compactJWS"] as? String, sourceLocation: sourceLocation)
        let jws = try CompactJWS(Array(text.utf8))
        #expect(try key.verify(jws.signature.der, of: jws.signingInput), sourceLocation: sourceLocation)
        #expect(jws.content.keyID == (try Fixtures.keyID()), sourceLocation: sourceLocation)
        #expect(jws.content.issuerID == (try Fixtures.issuerID()), sourceLocation: sourceLocation)
        #expect(jws.content.issuedAtSeconds == 1_767_225_600, sourceLocation: sourceLocation)
        return jws
    }

    private static func catalogue(allowsUnboundJWS: Bool) throws -> Catalogue {
        let offers = [try ProductID(utf8: Array("p".utf8)): Set([try OfferID(utf8: Array("o".utf8))])]
        let app = Catalogue.App(offers: offers, allowsUnboundJWS: allowsUnboundJWS)
        return Catalogue(apps: [try BundleID(utf8: Array("a".utf8)): app])
    }

    @Test("a response has both signatures for the same offer, each with its own nonce")
    func bothSignatures() throws {
        let answer = routes.post("/v1/promotional-offers", Self.offer(Self.transaction))
        #expect(answer.status == 200)
        let json = answer.json
        #expect(json["transactionID"] as? String == "2000000123456789" && json["compactJWSMissing"] == nil)
        let jws = try jws(in: json)
        #expect(try OfferRouteTests.explanation(of: answer, by: key).isGood)
        func utf8(_ name: String, in object: [String: Any]) throws -> [UInt8] {
            Array(try #require(object[name] as? String).utf8)
        }
        #expect(try jws.content.bundleID == BundleID(utf8: utf8("bundleID", in: json)))
        let signature = try #require(json["signature"] as? [String: Any])
        #expect(try jws.content.nonce != Nonce(utf8: utf8("nonce", in: signature)))
        let transactionID = try TransactionID(utf8: Array("2000000123456789".utf8))
        #expect(
            jws.content.request
                == .promotionalOffer(
                    try ProductID(utf8: utf8("productID", in: json)), try OfferID(utf8: utf8("offerID", in: json)),
                    transactionID))
    }

    @Test("a response without a JWS names everything that is missing and still has the signature")
    func missing() throws {
        let without = try TestService(pair: key)
        for (routes, more, codes) in [
            (without, "", ["issuer_id_missing", "transaction_id_missing"]),
            (without, Self.transaction, ["issuer_id_missing"]), (routes, "", ["transaction_id_missing"]),
        ] {
            let json = routes.post("/v1/promotional-offers", Self.offer(more)).json
            #expect(json["compactJWSMissing"] as? [String] == codes)
            #expect(json["compactJWS"] == nil && json["transactionID"] == nil && json["signature"] != nil)
        }
        let sample = #"{"appBundleID":"a","productID":"p","offerID":"o","applicationUsername":"","transactionID":[]}"#
        #expect(Set(routes.post("/offer", sample).json.keys) == ["keyID", "nonce", "timestamp", "signature"])
    }

    @Test("an unbound JWS is signed only for an app that allows it, and is counted")
    func unbound() throws {
        for isAllowed in [false, true] {
            let routes = try TestService(
                pair: key, catalogue: Self.catalogue(allowsUnboundJWS: isAllowed),
                issuerIDs: IssuerIDs(ofAllApps: Fixtures.issuerID()))
            let json = routes.post("/v1/promotional-offers", Self.offer()).json
            #expect((json["compactJWS"] != nil) == isAllowed)
            #expect(json["compactJWSMissing"] as? [String] == (isAllowed ? nil : ["transaction_id_missing"]))
            #expect(routes.scrape()["offer_signer_unbound_jws_total{app=\"a\"}"] == (isAllowed ? 1 : nil))
            guard isAllowed else { continue }
            let content = try jws(in: json).content
            guard case .promotionalOffer(_, _, nil) = content.request else {
                Issue.record("\(content.request)")
                return
            }
            #expect(routes.post("/v1/promotional-offers", Self.offer(Self.transaction)).status == 200)
            #expect(
                routes.scrape()["offer_signer_unbound_jws_total{app=\"a\"}"] == 1, "a bound JWS is not counted")
        }
    }

    @Test("a JWS uses the app's own issuer ID or else the one for all apps; without either, no JWS is signed")
    func issuerOfApp() throws {
        let app = try BundleID(utf8: Array("a".utf8))
        let own = try IssuerID(utf8: Array(Fixtures.nonceText.utf8))
        for other in [nil, try Fixtures.issuerID()] {
            let routes = try TestService(pair: key, issuerIDs: IssuerIDs(ofAllApps: other, ofApps: [app: own]))
            let json = routes.post("/v1/introductory-offers", Self.introductory).json
            let text = try #require(json["compactJWS"] as? String)
            #expect(try CompactJWS(Array(text.utf8)).content.issuerID == own)
            let ofAnother = routes.post(
                "/v1/introductory-offers", Self.introductory.replacing(#""a""#, with: #""b""#))
            #expect(ofAnother.status == (other == nil ? 503 : 200))
        }
    }

    @Test("/v1/introductory-offers signs the decision and echoes it", arguments: [true, false])
    func introductoryOffer(isAllowed: Bool) throws {
        let body = Self.introductory.replacing("true", with: "\(isAllowed)")
        let answer = routes.post("/v1/introductory-offers", body)
        #expect(answer.status == 200)
        let json = answer.json
        #expect(
            Set(json.keys) == ["bundleID", "productID", "allowIntroductoryOffer", "transactionID", "compactJWS"])
        #expect(json["allowIntroductoryOffer"] as? Bool == isAllowed)
        let expected = try AppStoreRequest.introductoryOfferEligibility(
            ProductID(utf8: Array("p".utf8)), allowed: isAllowed, TransactionID(utf8: Array("2000000123456789".utf8)))
        #expect(try jws(in: json).content.request == expected)
    }

    @Test(
        "/v1/advanced-commerce signs the request byte for byte",
        arguments: [
            #"{"a":1}"#, "{ \"b\" : 1.0 ,\n\t\"a\":\"\\u00e9\\/é\" }", #"{"request":{"request":"}"}}"#,
            #"{"n":1E+2,"big":123456789012345678901234567890,"nonce":"allowed here","e":"\\\""}"#,
        ])
    func advancedCommerce(request: String) throws {
        for body in [
            #"{"bundleID":"a","request":\#(request)}"#, "\r\n{ \"request\" :\t\(request) , \"bundleID\" : \"a\" } ",
            #"{"re\u0071uest":\#(request),"bundleID":"a"}"#,
        ] {
            let answer = routes.post("/v1/advanced-commerce", body)
            #expect(answer.status == 200)
            #expect(Set(answer.json.keys) == ["bundleID", "compactJWS"])
            guard case .advancedCommerce(let json) = try jws(in: answer.json).content.request else {
                Issue.record("the JWS is of the wrong kind")
                return
            }
            #expect(String(decoding: json.utf8, as: UTF8.self) == request)
        }
    }

    @Test("every JWS can be explained, even the largest")
    func largest() async throws {
        let app = String(repeating: "\\\"", count: 155)  // twice as long in JSON
        func body(_ size: Int) -> String {
            let request = #"{"a":"\#(String(repeating: "x", count: size - 8))"}"#
            return #"{"bundleID":"\#(app)","request":\#(request)}"#
        }
        let tooLarge = routes.post("/v1/advanced-commerce", body(AdvancedCommerceRequest.maximumSize + 1))
        #expect(tooLarge.status == 400 && tooLarge.json["field"] as? String == "request")
        #expect((tooLarge.json["detail"] as? String)?.contains("16384 bytes") == true)
        let made = routes.post("/v1/advanced-commerce", body(AdvancedCommerceRequest.maximumSize))
        #expect(made.status == 200)
        let explained = await routes.postLater("/v1/explanations", made.text)
        #expect(explained.status == 200 && explained.json["verifies"] as? Bool == true, "\(explained.text.prefix(400))")
        #expect(explained.json["cause"] is NSNull)
        // Other key IDs may be longer than the one used here.
        let size = (made.json["compactJWS"] as? String)?.utf8.count ?? 0
        #expect(size > 29_000 && size + 2 * 32 < 30 * 1024)
    }

    @Test("an invalid field gets a 400 that names it")
    func badRequests() throws {
        let deep = String(repeating: "[", count: 15) + String(repeating: "]", count: 15)
        for (path, body, code, field) in [
            ("introductory-offers", "{}", "missing_field", "bundleID"),
            (
                "introductory-offers", Self.introductory.replacing("true", with: "\"true\""), "wrong_type",
                "allowIntroductoryOffer"
            ),
            (
                "introductory-offers", Self.introductory.replacing("true", with: "1"), "wrong_type",
                "allowIntroductoryOffer"
            ),
            (
                "introductory-offers", Self.introductory.replacing("true", with: "null"), "wrong_type",
                "allowIntroductoryOffer"
            ),
            (
                "introductory-offers", Self.introductory.replacing(#","transactionID":"2000000123456789""#, with: ""),
                "missing_field", "transactionID"
            ),
            (
                "introductory-offers", Self.introductory.replacing(#""2000000123456789""#, with: "2000000123456789"),
                "wrong_type", "transactionID"
            ),
            (
                "introductory-offers", Self.introductory.replacing("2000000123456789", with: ""), "invalid_field",
                "transactionID"
            ),
            (
                "introductory-offers",
                Self.introductory.replacing("2000000123456789", with: String(repeating: "1", count: 65)),
                "invalid_field", "transactionID"
            ),
            ("introductory-offers", Self.introductory.replacing("}", with: #","iss":"x"}"#), "reserved_field", "iss"),
            ("introductory-offers", Self.introductory.replacing("}", with: #","IAT":1}"#), "reserved_field", "IAT"),
            (
                "introductory-offers", Self.introductory.replacing("}", with: #","offerID":"o"}"#), "unknown_field",
                "offerID"
            ),
            ("advanced-commerce", #"{"bundleID":"a"}"#, "missing_field", "request"),
            ("advanced-commerce", #"{"bundleID":"a","request":"{}"}"#, "wrong_type", "request"),
            ("advanced-commerce", #"{"bundleID":"a","request":[]}"#, "wrong_type", "request"),
            ("advanced-commerce", #"{"bundleID":"a","request":null}"#, "wrong_type", "request"),
            ("advanced-commerce", #"{"bundleID":"a","request":{}}"#, "invalid_field", "request"),
            ("advanced-commerce", #"{"bundleID":"a","request":{},"nonce":"x"}"#, "reserved_field", "nonce"),
            ("advanced-commerce", #"{"bundleID":"a","request":{},"keyID":"x"}"#, "reserved_field", "keyID"),
            ("advanced-commerce", #"{"bundleID":"a","request":{"a":1,"a":2}}"#, "unreadable_json", nil),
            ("advanced-commerce", #"{"bundleID":"a","request":{"a":\#(deep)}}"#, "unreadable_json", nil),
            ("promotional-offers", Self.offer(#","iss":"x""#), "reserved_field", "iss"),
            ("promotional-offers", Self.offer(#","transactionID":"""#), "invalid_field", "transactionID"),
            ("promotional-offers", Self.offer(#","transactionID":null"#), "wrong_type", "transactionID"),
        ] as [(String, String, String, String?)] {
            let answer = routes.post("/v1/" + path, body)
            #expect(answer.status == 400, "\(body)")
            #expect(answer.json["code"] as? String == code, "\(body)")
            #expect(answer.json["field"] as? String == field, "\(body)")
        }
    }

    @Test("the JWS-only endpoints answer 503 without an issuer ID")
    func noIssuer() throws {
        let routes = try TestService(pair: key)
        for (path, body) in [
            ("/v1/introductory-offers", Self.introductory),
            ("/v1/advanced-commerce", #"{"bundleID":"a","request":{"a":1}}"#),
        ] {
            let answer = routes.post(path, body)
            #expect(answer.status == 503 && answer.retryAfter == 30)
            #expect(answer.json["code"] as? String == "issuer_id_missing")
        }
        let lines = routes.log.lines(with: "SUBSCRIPTION_OFFERS_ISSUER_ID")
        #expect(lines.count == 1, "a flood of requests does not flood the log")
    }

    @Test("an offer outside the catalogue or the caller's apps gets the same refusal")
    func catalogue() throws {
        let caller = try Caller.test(
            "one", [.sign, .introductory, .advancedCommerce], apps: ["a", "elsewhere"])
        let routes = try TestService(
            pair: key, catalogue: Self.catalogue(allowsUnboundJWS: false),
            issuerIDs: IssuerIDs(ofAllApps: Fixtures.issuerID()), callers: [caller])
        func post(_ path: String, _ body: String) -> HTTPResponse {
            routes.post("/v1/" + path, body, token: "token-of-one")
        }
        #expect(post("introductory-offers", Self.introductory).status == 200)
        #expect(post("advanced-commerce", #"{"bundleID":"a","request":{"a":1}}"#).status == 200)
        for (path, body) in [
            ("introductory-offers", Self.introductory.replacing(#""p""#, with: #""q""#)),
            ("introductory-offers", Self.introductory.replacing(#""a""#, with: #""b""#)),
            ("introductory-offers", Self.introductory.replacing(#""a""#, with: #""elsewhere""#)),
            ("advanced-commerce", #"{"bundleID":"b","request":{"a":1}}"#),
            ("advanced-commerce", #"{"bundleID":"elsewhere","request":{"a":1}}"#),
        ] {
            let answer = post(path, body)
            #expect(answer.status == 403 && answer.json["code"] as? String == "offer_not_served", "\(body)")
            #expect(
                Problem.offerNotServed.response(to: RequestContext()).json["detail"] as? String == answer.json["detail"]
                    as? String)
        }
        #expect(routes.post("/v1/introductory-offers", Self.introductory).status == 401)
    }

    @Test("each offer in a list is answered separately and in order")
    func list() throws {
        let good = Self.offer(Self.transaction)
        let items = [
            good, Self.offer(), "7", "{}", Self.offer(#","nonce":"x""#), Self.offer(#","colour":"red""#),
            good.replacing(#""o""#, with: #""other""#), good.replacing(#""u""#, with: #""a\u2063b""#), good,
        ]
        let routes = try TestService(
            pair: key, catalogue: Self.catalogue(allowsUnboundJWS: false),
            issuerIDs: IssuerIDs(ofAllApps: Fixtures.issuerID()))
        let answer = routes.post("/v1/promotional-offers", #"{"offers":[\#(items.joined(separator: ","))]}"#)
        #expect(answer.status == 200)
        #expect(Set(answer.json.keys) == ["offers"])
        let offers = try #require(answer.json["offers"] as? [[String: Any]])
        let problems = offers.map { ($0["problem"] as? [String: Any]) ?? [:] }
        #expect(
            problems.map { $0["code"] as? String } == [
                nil, nil, "wrong_type", "missing_field", "reserved_field", "unknown_field", "offer_not_served",
                "invalid_field", nil,
            ])
        #expect(
            problems.map { $0["field"] as? String } == [
                nil, nil, "offers[2]", "productID", "nonce", "colour", nil, "applicationUsername", nil,
            ])
        #expect(problems.allSatisfy { $0.isEmpty || ($0["detail"] as? String)?.isEmpty == false })
        #expect(offers[1]["compactJWSMissing"] as? [String] == ["transaction_id_missing"])
        let (first, last) = (try jws(in: offers[0]), try jws(in: offers[8]))
        #expect(first.content.request == last.content.request)
        #expect(first.content.nonce != last.content.nonce, "a repeated item is signed twice")
        for offer in [offers[0], offers[1], offers[8]] {
            let body = [UInt8](try JSONSerialization.data(withJSONObject: offer))
            #expect(try OfferRouteTests.explanation(of: HTTPResponse(body: body), by: key).isGood)
        }
    }

    @Test("a list has 1 to 20 items and no other members")
    func sizesOfLists() throws {
        func answer(_ count: Int, _ more: String = "", item: String = Self.offer()) -> HTTPResponse {
            let items = [String](repeating: item, count: count).joined(separator: ",")
            return routes.post("/v1/promotional-offers", #"{"offers":[\#(items)]\#(more)}"#)
        }
        for count in [1, 20] {
            #expect((answer(count).json["offers"] as? [Any])?.count == count)
        }
        for count in [0, 21, 64] {
            #expect(answer(count).status == 400)
            #expect(answer(count).json["code"] as? String == "invalid_field")
            #expect(answer(count).json["field"] as? String == "offers")
        }
        #expect(answer(65).json["code"] as? String == "unreadable_json")
        #expect(answer(1, #","bundleID":"a""#).json["code"] as? String == "unknown_field")
        #expect(answer(1, #","keyID":"a""#).json["code"] as? String == "reserved_field")
        for value in ["{}", "null", "\"\"", "1"] {
            let refused = routes.post("/v1/promotional-offers", #"{"offers":\#(value)}"#)
            #expect(refused.json["code"] as? String == "wrong_type")
        }
        func text(_ count: Int) -> String { String(repeating: "x", count: count) }
        let longest = """
            {"bundleID":"\(text(155))","productID":"\(text(255))","offerID":"\(text(255))",\
            "applicationUsername":"\(text(512))","transactionID":"\(text(64))"}
            """
        let largest = #"{"offers":[\#([String](repeating: longest, count: 20).joined(separator: ","))]}"#
        #expect(largest.utf8.count <= HTTPRequest.maximumBodySize)
        #expect(largest.utf8.count > HTTPRequest.maximumBodySize / 2, "the size limit is not needlessly high")
        let offers = try #require(routes.post("/v1/promotional-offers", largest).json["offers"] as? [[String: Any]])
        #expect(offers.count == 20 && offers.allSatisfy { $0["compactJWS"] != nil })
    }

    @Test("each offer in a list counts against the caller's limit and its customer's")
    func limits() throws {
        var limits = Limits.with(\.tokens, 1, 6)
        limits.customers = RateLimit(perSecond: 0.1, burst: 2)
        let routes = try TestService(callers: [.test("one", [.sign])], limits: limits)
        func post(_ users: String...) -> HTTPResponse {
            let items = users.map { Self.offer().replacing(#""u""#, with: "\"\($0)\"") }.joined(separator: ",")
            return routes.post(
                "/v1/promotional-offers", #"{"offers":[\#(items)]}"#, token: "token-of-one")
        }
        let first = try #require(post("u", "u", "u", "v", "v").json["offers"] as? [[String: Any]])
        let problems = first.map { $0["problem"] as? [String: Any] }
        #expect(problems.map { $0?["code"] as? String } == [nil, nil, "rate_limited", nil, nil])
        #expect(problems[2]?["retryAfter"] as? Int == 10)
        #expect(post("w").status == 200)
        #expect(post("x").status == 429)
    }

    @Test("a list that exceeds the limit of its caller is refused as a whole, and costs nothing")
    func tooMany() throws {
        let routes = try TestService(callers: [.test("one", [.sign])], limits: .with(\.tokens, 1, 5))
        func post(_ count: Int) -> HTTPResponse {
            let items = [String](repeating: Self.offer(), count: count).joined(separator: ",")
            return routes.post(
                "/v1/promotional-offers", #"{"offers":[\#(items)]}"#, token: "token-of-one")
        }
        #expect(post(3).status == 200)
        for _ in 0..<10 {
            let refused = post(3)
            #expect(refused.status == 429 && refused.json["code"] as? String == "rate_limited")
            #expect(refused.retryAfter == 1, "two of the three tokens are there")
        }
        #expect(routes.log.text.ranges(of: "offer signed").count == 3, "nothing of a refused list was signed")
        #expect(post(2).status == 200)
        #expect(post(1).status == 429)
        routes.advanceClock(by: .seconds(100))
        #expect(post(6).status == 429, "longer than the burst")
        #expect(post(5).status == 200)
    }

    @Test("only the app's own customers are counted, whatever kind of signature a request is for")
    func customersOfAllKinds() throws {
        let scopes: Set<Caller.Scope> = [.introductory, .advancedCommerce]
        let routes = try TestService(
            pair: key, issuerIDs: IssuerIDs(ofAllApps: Fixtures.issuerID()),
            callers: [.test("one", scopes, apps: ["a"]), .test("two", scopes, apps: [])],
            limits: .with(\.customers, 1, 1))
        func status(_ path: String, _ body: String, by caller: String = "one") -> Int {
            routes.post("/v1/" + path, body, token: "token-of-\(caller)").status
        }
        // A caller that may not sign for the app cannot use up its customers' limits.
        let introductory = ("introductory-offers", Self.introductory)
        #expect(status(introductory.0, introductory.1, by: "two") == 403)
        #expect(status(introductory.0, introductory.1) == 200)
        #expect(status(introductory.0, introductory.1) == 429)
        func commerce(_ info: String) -> (String, String) {
            ("advanced-commerce", #"{"bundleID":"a","request":{"operation":"x"\#(info)}}"#)
        }
        func named(_ token: String) -> (String, String) {
            commerce(#","requestInfo":{"appAccountToken":"\#(token)","requestReferenceId":"r"}"#)
        }
        let token = "d3b07384-d113-4ec6-a7b1-6f1c2f5e9b10"
        #expect(status(named(token).0, named(token).1, by: "two") == 403)
        #expect(status(named(token).0, named(token).1) == 200)
        #expect(status(named(token.uppercased()).0, named(token.uppercased()).1) == 429)
        #expect(status(named(Fixtures.nonceText).0, named(Fixtures.nonceText).1) == 200)
        // Without an account token, the request does not identify a customer, so no limit applies.
        for (path, body) in [commerce(""), named("x"), commerce(#","requestInfo":7"#)] {
            for _ in 0..<2 { #expect(status(path, body) == 200, "\(body)") }
        }
    }
}
