import Foundation
import OfferCore
import OfferCrypto
import OfferExplanations
import OfferHTTP
import TestSupport
import Testing

@Suite("Signing routes")
struct OfferRouteTests {
    private static let sample = #"""
        {"appBundleID":"com.example.app","productIdentifier":"com.example.app.pro.monthly",
         "offerID":"retention_50off_3m","applicationUsername":"8d7f9a52c4e1"}
        """#

    @Test("POST /offer returns the four members of Apple's sample and signs the fields sent")
    func sampleContract() throws {
        let key = try Fixtures.makeSigningKey()
        let answer = try TestService(pair: key).post("/offer", Self.sample)
        #expect(answer.status == 200)
        #expect(answer.mediaType == .json)
        let json = answer.json
        #expect(Set(json.keys) == ["keyID", "nonce", "timestamp", "signature"])
        #expect(json["keyID"] as? String == "TESTKEY123")
        #expect(json["timestamp"] as? Int64 == Fixtures.timestamp.milliseconds)
        #expect(answer.text.contains("\"timestamp\":1767225600000,"), "a plain integer")
        let payload = [
            "com.example.app", "TESTKEY123", "com.example.app.pro.monthly", "retention_50off_3m", "8d7f9a52c4e1",
            try #require(json["nonce"] as? String), "1767225600000",
        ].joined(separator: "\u{2063}")
        #expect(try key.verify(Self.signature(in: json), of: Array(payload.utf8)))
    }

    @Test("GET /offer reads the fields from a percent-encoded query or a JSON body")
    func getContract() throws {
        let key = try Fixtures.makeSigningKey()
        let routes = try TestService(pair: key)
        let fromQuery = routes.get(
            "/offer?appBundleID=com.example.app&productID=pro&offerID=o%2Bff%C3%A9rr&applicationUsername=")
        #expect(fromQuery.status == 200)
        let json = fromQuery.json
        let payload = [
            "com.example.app", "TESTKEY123", "pro", "o+fférr", "",
            try #require(json["nonce"] as? String), "1767225600000",
        ].joined(separator: "\u{2063}")
        #expect(try key.verify(Self.signature(in: json), of: Array(payload.utf8)))
        let fromBody = routes.respond(
            HTTPRequest(
                method: "GET", target: "/offer", contentType: "application/json; charset=UTF-8",
                body: Array(Self.sample.utf8)))
        #expect(fromBody.status == 200)
    }

    @Test("/v1/promotional-offers returns the signed fields, their expiry and the nested signature")
    func v1Contract() throws {
        let key = try Fixtures.makeSigningKey()
        let answer = try TestService(pair: key).post(
            "/v1/promotional-offers",
            #"{"bundleID":"a","productID":"p","offerID":"o","appAccountToken":"D3B07384-D113-4EC6-A7B1-6F1C2F5E9B10","transactionID":"2000000123456789"}"#
        )
        #expect(answer.status == 200)
        let json = answer.json
        #expect(
            Set(json.keys) == [
                "bundleID", "productID", "offerID", "appAccountToken", "expiresAt", "signature", "compactJWSMissing",
            ])
        #expect(json["appAccountToken"] as? String == "d3b07384-d113-4ec6-a7b1-6f1c2f5e9b10")
        #expect(json["expiresAt"] as? Int64 == Fixtures.timestamp.milliseconds + 86_400_000)
        let signature = try #require(json["signature"] as? [String: Any])
        #expect(Set(signature.keys) == ["keyID", "nonce", "timestamp", "signature"])
        let explanation = try Self.explanation(of: answer, by: key)
        #expect(explanation.isGood)
        #expect(
            explanation.payload.hasPrefix("a|TESTKEY123|p|o|d3b07384-d113-4ec6-a7b1-6f1c2f5e9b10|"), "\(explanation)")
    }

    @Test("fields are signed and returned as sent, without normalisation or trimming")
    func byteForByte() throws {
        let key = try Fixtures.makeSigningKey()
        let routes = try TestService(pair: key)
        for user in ["e\u{301}", "\u{E9}", " padded ", "UPPER", "😀", "\u{FEFF}", "a/b\\\"c"] {
            let body = try JSONSerialization.data(
                withJSONObject: ["bundleID": "a", "productID": "p", "offerID": "o", "applicationUsername": user])
            let answer = routes.post("/v1/promotional-offers", String(decoding: body, as: UTF8.self))
            #expect(try Self.object(answer.body)["applicationUsername"] == .string(Array(user.utf8)))
            #expect(try Self.explanation(of: answer, by: key).isGood)
        }
    }

    @Test("the service is ready until no key can sign, and stays live after that")
    func health() throws {
        let routes = try TestService(pair: StubKeyPair())
        #expect(routes.get("/health/live").status == 200)
        #expect(routes.get("/health/ready").status == 200)
        #expect(routes.post("/offer", Self.sample).status == 503)
        #expect(routes.get("/health/live").status == 200)
        #expect(routes.get("/health/ready").status == 503)
    }

    static func signature(in json: [String: Any]) throws -> [UInt8] {
        let base64 = try #require(json["signature"] as? String)
        return [UInt8](try #require(Data(base64Encoded: base64)))
    }

    /// Explains the signature of a response.
    static func explanation(of answer: HTTPResponse, by key: SigningKey) throws -> Explanation {
        let candidate = CandidateKey(id: try Fixtures.keyID(), standing: .inService, accepts: key.verify)
        return try Explainer(keys: [candidate], now: Fixtures.timestamp)
            .explanation(of: Evidence(object(answer.body)))
    }

    static func object(_ bytes: [UInt8]) throws -> JSONObject {
        guard case .object(let object) = try JSONReader.read(bytes) else { throw CancellationError() }
        return object
    }
}
