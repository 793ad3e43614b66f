import Foundation
import OfferHTTP
import OfferService
import TestSupport
import Testing

@Suite("Refusals")
struct RefusalTests {
    /// A request body with the four fields and `changes` applied; nil removes a field.
    private static func sample(_ changes: [String: String?]) -> String {
        var members = [
            "appBundleID": #""com.example.app""#, "productIdentifier": #""pro""#, "offerID": #""offer""#,
            "applicationUsername": #""user""#,
        ]
        for (name, value) in changes { members[name] = value }
        return "{" + members.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
    }

    @Test(
        "a missing, mistyped or invalid field gets a 400 that names it",
        arguments: ["appBundleID", "productIdentifier", "offerID", "applicationUsername"])
    func namesTheField(field: String) throws {
        let routes = try TestService()
        for (value, code) in [
            (nil, "missing_field"), ("null", "wrong_type"), ("1", "wrong_type"), ("true", "wrong_type"),
            ("[]", "wrong_type"), ("{}", "wrong_type"), (#""a\u2063b""#, "invalid_field"),
            (#""a\nb""#, "invalid_field"), (#"" ""#, "invalid_field"), ("\" \u{A0}\u{3000}\"", "invalid_field"),
            (#""\u0000""#, "invalid_field"), ("\"\(String(repeating: "x", count: 600))\"", "invalid_field"),
        ] as [(String?, String)] {
            let answer = routes.post("/offer", Self.sample([field: value]))
            #expect(answer.status == 400)
            #expect(answer.mediaType == .problem)
            #expect(answer.json["code"] as? String == code, "\(value ?? "absent")")
            #expect(answer.json["field"] as? String == field)
            #expect(answer.json["status"] as? Int == 400)
            #expect((answer.json["detail"] as? String)?.contains(field) == true)
            #expect((answer.json["requestID"] as? String)?.count == 16)
        }
    }

    @Test(
        "a request that sets a server-generated field is refused, in any spelling of its name",
        arguments: ["keyID", "keyid", "keyIdentifier", "nonce", "NONCE", "timestamp", "signature"])
    func reserved(field: String) throws {
        let routes = try TestService()
        let answers = [
            routes.post("/offer", Self.sample([field: #""x""#])),
            routes.get("/offer?appBundleID=a&productID=p&offerID=o&applicationUsername=&\(field)=x"),
            routes.post(
                "/v1/promotional-offers",
                #"{"bundleID":"a","productID":"p","offerID":"o","applicationUsername":"","\#(field)":"x"}"#),
        ]
        for answer in answers {
            #expect(answer.status == 400)
            #expect(answer.json["code"] as? String == "reserved_field")
            #expect(answer.json["field"] as? String == field)
        }
    }

    @Test("the names that docs/api.md lists as reserved are refused in any letter case")
    func reservedNames() throws {
        let page = try String(contentsOf: MarkdownBlock.repository.appending(path: "docs/api.md"), encoding: .utf8)
        let row = try #require(page.split(separator: "\n").first { $0.hasPrefix("| `keyID`, `keyIdentifier`") })
        let parts = row.split(separator: "also", maxSplits: 1).map {
            $0.matches(of: /`([A-Za-z]+)`/).map { String($0.output.1) }
        }
        #expect(parts.map(\.count) == [5, 10])
        let routes = try TestService()
        let v1 = #"{"bundleID":"a","productID":"p","offerID":"o","applicationUsername":"""#
        for (name, isOfJWS) in parts[0].map({ ($0, false) }) + parts[1].map({ ($0, true) }) {
            for name in [name, name.uppercased(), name.lowercased()] {
                let answer = routes.post("/v1/promotional-offers", v1 + ",\"\(name)\":1}")
                #expect(answer.json["code"] as? String == "reserved_field", "\(name)")
                let sample = routes.post("/offer", Self.sample([name: "1"]))
                #expect(sample.json["code"] as? String == (isOfJWS ? nil : "reserved_field"), "\(name)")
                #expect(throws: Problem.reservedField(name)) {
                    try OfferRequest(
                        OfferRouteTests.object(Array(Self.sample([name: "1"]).utf8)), spelling: .command)
                }
            }
        }
    }

    @Test("conflicting fields, unknown fields in /v1, and fields in two places are refused")
    func conflicts() throws {
        let routes = try TestService()
        func code(_ answer: HTTPResponse) -> String? { answer.json["code"] as? String }
        #expect(code(routes.post("/offer", Self.sample(["productID": #""pro""#]))) == "conflicting_fields")
        #expect(
            code(routes.post("/offer", Self.sample(["appAccountToken": #""d3b07384-d113-4ec6-a7b1-6f1c2f5e9b10""#])))
                == "conflicting_fields")
        #expect(
            routes.post("/offer", Self.sample(["colour": #""red""#])).status == 200, "ignored, as in Apple's sample")
        #expect(
            code(
                routes.post(
                    "/v1/promotional-offers",
                    #"{"bundleID":"a","productID":"p","offerID":"o","applicationUsername":"","transactionId":"1"}"#))
                == "unknown_field")
        #expect(code(routes.post("/offer?offerID=o", Self.sample([:]))) == "query_not_expected")
        #expect(
            code(
                routes.respond(
                    HTTPRequest(
                        method: "GET", target: "/offer?a=b", contentType: "application/json",
                        body: Array(Self.sample([:]).utf8)))) == "query_and_body")
    }

    @Test(
        "an ambiguous or malformed query is refused",
        arguments: ["a+b", "%zz", "%2", "%ff", "a&offerID=b", "a&x", "%E2%81%A3", "%00"])
    func queries(value: String) throws {
        let routes = try TestService()
        let answer = routes.get("/offer?appBundleID=a&productID=p&applicationUsername=&offerID=\(value)")
        #expect(answer.status == 400)
        #expect(["unreadable_query", "invalid_field"].contains(answer.json["code"] as? String))
    }

    @Test(
        "a body must be uncompressed JSON in UTF-8",
        arguments: [
            nil, "", "text/plain", "application/x-www-form-urlencoded", "application/json; charset=utf-16",
            "application/json, text/plain", "application/jsonp",
        ])
    func contentType(type: String?) throws {
        let routes = try TestService()
        let body = Array(Self.sample([:]).utf8)
        let answer = routes.respond(
            HTTPRequest(method: "POST", target: "/offer", contentType: type, body: body))
        #expect(answer.status == 415)
        let compressed = routes.respond(
            HTTPRequest(
                method: "POST", target: "/offer", contentType: "application/json", contentEncoding: "gzip", body: body))
        #expect(compressed.status == 415)
    }
}
