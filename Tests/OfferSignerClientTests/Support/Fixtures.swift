import Foundation
import Testing

@testable import OfferSignerClient

enum Fixtures {
    static let bundleID = "com.example.app"
    static let productID = "com.example.app.pro.monthly"
    static let groupID = "21012345"
    static let token = UUID(uuidString: "D3B07384-D113-4EC6-A7B1-6F1C2F5E9B10") ?? UUID()
    static let customer = OfferCustomer.appAccountToken(token)
    static let date = ["Date": "Thu, 01 Jan 2026 00:00:00 GMT"]
    static let signature =
        "MEYCIQC6AjFdTN+1JqraxnQHBEEJASPC8yj3xfdtQid+J7ia7gIhAK2OpJ9H1mzD/g56pxkGYqWIvLOoB1LsAEdASW1bLXpC"

    /// A client that does not wait, with a customer.
    static func client(
        _ transport: any OfferTransport, api: OfferAPI = .v1, customer: OfferCustomer? = customer,
        token: (@Sendable () async throws -> String?)? = nil, waits: Counter = Counter()
    ) async -> OfferClient {
        let runtime = ClientRuntime(
            sleep: { waits.add($0) }, uptime: { 0 }, makeKey: { UUID().uuidString.lowercased() })
        let client = OfferClient(
            bundleID: bundleID, transport: transport, api: api, token: token, runtime: runtime)
        if let customer { await client.signIn(customer) }
        return client
    }

    static func nonce(_ number: Int) -> String { String(format: "7f8a1c7e-3f2b-4f0d-9b1a-%012x", number) }

    // MARK: Answers

    static func answer(_ status: Int = 200, _ json: String, _ headers: [String: String] = date)
        -> ScriptedTransport.Step
    {
        { _ in TransportAnswer(status: status, headers: headers, body: Data(json.utf8)) }
    }

    static func lost(_: TransportRequest) throws -> TransportAnswer { throw TransportFailure(.noAnswer, "lost") }

    static let noContent = answer(204, "")

    static func list(_ offerIDs: String..., plan: String? = nil) -> ScriptedTransport.Step {
        let member = plan.map { #","billingPlanType":"\#($0)""# } ?? ""
        let offers = offerIDs.map { #"{"productID":"\#(productID)","offerID":"\#($0)"\#(member)}"# }
        return answer(#"{"environment":"Production","offers":[\#(offers.joined(separator: ","))],"refused":[]}"#)
    }

    private static func answer(_ json: String) -> ScriptedTransport.Step { answer(200, json) }

    static func v1(_ number: Int) -> String {
        #"{"keyID":"2X9R4HXF34","nonce":"\#(nonce(number))","timestamp":1767225600000,"signature":"\#(signature)"}"#
    }

    /// A JWS with the claims of an offer and a signature that nobody made.
    static func jws(
        _ number: Int, offerID: String = "half", transactionID: String? = "2000000123456789",
        issuedAt: Int = 1_767_225_600
    ) -> String {
        let bound = transactionID.map { #","transactionId":"\#($0)""# } ?? ""
        let claims = #"""
            {"iss":"57246542-96fe-1a63-e053-0824d011072a","iat":\#(issuedAt),"aud":"promotional-offer",\#
            "bid":"\#(bundleID)","nonce":"\#(nonce(number))","productId":"\#(productID)",\#
            "offerIdentifier":"\#(offerID)"\#(bound)}
            """#
        return [#"{"alg":"ES256","kid":"2X9R4HXF34","typ":"JWT"}"#, claims].map { base64URL(Data($0.utf8)) }
            .joined(separator: ".") + "." + String(repeating: "A", count: 86)
    }

    static func base64URL(_ data: Data) -> String {
        data.base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }

    /// The answer of `/v1/promotional-offers`.
    static func signed(
        _ number: Int, offerID: String = "half", v1: Bool = true, jws: Bool = true, plan: String? = nil,
        customer: String = #""appAccountToken":"d3b07384-d113-4ec6-a7b1-6f1c2f5e9b10""#, issuedAt: Int = 1_767_225_600
    ) -> ScriptedTransport.Step {
        var members = [#""bundleID":"\#(bundleID)","productID":"\#(productID)","offerID":"\#(offerID)""#, customer]
        if v1 { members.append(#""expiresAt":1767312000000,"signature":\#(Self.v1(number))"#) }
        if jws {
            let text = Self.jws(number + 1000, offerID: offerID, issuedAt: issuedAt)
            members.append(#""transactionID":"2000000123456789","compactJWS":"\#(text)""#)
        } else {
            members.append(#""compactJWSMissing":["issuer_id_missing"]"#)
        }
        if let plan { members.append(#""billingPlanType":"\#(plan)""#) }
        return answer("{" + members.joined(separator: ",") + "}")
    }

    static func problem(
        _ status: Int, _ code: String, _ more: String = "", headers: [String: String] = [:]
    ) -> ScriptedTransport.Step {
        answer(
            status,
            #"{"type":"about:blank","title":"T","status":\#(status),"detail":"D","code":"\#(code)","requestID":"R"\#(more)}"#,
            headers)
    }

    static func explanation(verifies: Bool, cause: String?) -> ScriptedTransport.Step {
        let cause = cause.map { "\"\($0)\"" } ?? "null"
        return answer(#"{"verifies":\#(verifies),"cause":\#(cause),"explanation":"E","payload":"P","warnings":[]}"#)
    }
}

/// Sums numbers from any task.
final class Counter: Sendable {
    private let lock = NSLock()
    // Every access holds the lock.
    private nonisolated(unsafe) var numbers: [Int] = []

    func add(_ number: Int) {
        lock.lock()
        defer { lock.unlock() }
        unsafe numbers.append(number)
    }

    var all: [Int] {
        lock.lock()
        defer { lock.unlock() }
        return unsafe numbers
    }
}

/// The error that a call throws; records an issue if it throws none.
func failure(
    isolation: isolated (any Actor)? = #isolation, _ call: () async throws(OfferError) -> some Any,
    at location: SourceLocation = #_sourceLocation
) async -> OfferError? {
    do throws(OfferError) {
        _ = try await call()
        Issue.record("no error", sourceLocation: location)
        return nil
    } catch {
        return error
    }
}
