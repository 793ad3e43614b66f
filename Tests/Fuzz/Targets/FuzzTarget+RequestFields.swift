import Foundation
import OfferCore
import OfferExplanations
import OfferHTTP
import OfferService

extension FuzzTarget {
    /// The fields of a request. The input is read as a JSON body and as a query, in both spellings.
    static let requestFields = FuzzTarget("request-fields") { input throws(BrokenPromise) in
        let value = try? JSONReader.read(input)
        if let value, isWithinDouble(value) {
            let theirs = try? JSONSerialization.jsonObject(with: Data(input), options: .fragmentsAllowed)
            try promise("Foundation parses all JSON that we accept", theirs != nil)
        }
        let body = HTTPRequest(method: "POST", target: "/", contentType: "application/json", body: input)
        if let members = try? RequestMembers.read(body) {
            try promise("members come only from valid JSON", value != nil)
            try checkMembers(members)
        }
        // A query is part of the request head, where only these bytes are allowed.
        guard input.allSatisfy({ (0x21...0x7E).contains($0) }) else { return }
        let target = "/offer?" + String(decoding: input, as: UTF8.self)
        if let members = try? RequestMembers.read(HTTPRequest(method: "GET", target: target)) {
            try checkMembers(members)
        }
    }

    /// Whether a `Double` can hold every number in the value. Foundation refuses others, such as `1e999`; RFC 8259 allows
    /// them.
    static func isWithinDouble(_ value: JSONValue) -> Bool {
        switch value {
        case .number(let digits): Double(String(decoding: digits, as: UTF8.self))?.isFinite == true
        case .array(let elements): elements.allSatisfy(isWithinDouble)
        case .object(let object): object.members.allSatisfy { isWithinDouble($0.value) }
        case .null, .bool, .string: true
        }
    }

    private static func checkMembers(_ members: JSONObject) throws(BrokenPromise) {
        let names = members.members.map(\.name)
        try promise("no member name occurs twice", Set(names).count == names.count)
        for spelling in [OfferRequest.Spelling.sample, .v1] {
            guard let offer = try? OfferRequest(members, spelling: spelling) else { continue }
            let made = ["keyid", "keyidentifier", "nonce", "timestamp", "signature"]
            try promise(
                "a request contains no value that the server generates",
                names.allSatisfy { !made.contains(String(decoding: $0, as: UTF8.self).lowercased()) })
            try checkPayload(of: offer)
        }
    }

    private static func checkPayload(of offer: OfferRequest) throws(BrokenPromise) {
        var random = SystemRandomNumberGenerator()
        guard let keyID = try? KeyID(utf8: Array("FUZZKEY123".utf8)) else { return }
        let payload = OfferPayload(
            appBundleID: offer.appBundleID, keyID: keyID, productIdentifier: offer.productIdentifier,
            offerID: offer.offerID, customer: offer.customer, nonce: Nonce(using: &random),
            timestamp: Timestamp(milliseconds: 1_767_225_600_000))
        // Split by scalars: a combining mark after a separator would hide it in a split by characters.
        let fields = String(decoding: payload.bytes, as: UTF8.self).unicodeScalars
            .split(separator: "\u{2063}", omittingEmptySubsequences: false)
        try promise("a payload has seven fields", fields.count == 7)
        try promise(
            "no payload field contains a control character or line separator",
            fields.joined().allSatisfy {
                ![.control, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory)
            })
        try promise(
            "only the username can be empty",
            fields.indices.allSatisfy { index in index == 4 || !fields[index].isEmpty })
        try promise(
            "no payload field consists of white space only",
            fields.allSatisfy { field in field.isEmpty || !field.allSatisfy(\.properties.isWhitespace) })

        let signed = SignedOffer(payload: payload, signature: OfferSignature(der: [0x30, 6, 2, 1, 1, 2, 1, 1]))
        for answer in [signed.sampleBody(namesCustomer: true), signed.v1Body, signed.commandOutput] {
            try promise(
                "Foundation parses every response as JSON",
                (try? JSONSerialization.jsonObject(with: Data(answer))) != nil)
        }
        guard case .object(let members)? = try? JSONReader.read(signed.commandOutput),
            let evidence = try? Evidence(members)
        else { throw BrokenPromise(promise: "a signed offer is accepted as evidence") }
        // A key that accepts this payload and nothing else.
        let key = CandidateKey(id: keyID, standing: .inService) { _, message, _ in message == payload.bytes }
        let explainer = Explainer(keys: [key], now: payload.timestamp)
        try promise(
            "a signed offer verifies", (try? explainer.explanation(of: evidence))?.verifies == true)
    }
}
