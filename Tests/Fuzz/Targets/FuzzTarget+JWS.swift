import OfferCore
import OfferHTTP
import OfferService

extension FuzzTarget {
    /// The JWS code. The input is read as a JWS, as claims, as a DER signature, and as a request for a JWS.
    static let jws = FuzzTarget("jws") { input throws(BrokenPromise) in
        if let signature = RawSignature(der: input) {
            try promise("a signature has only one DER encoding", signature.der == input)
        }
        if let jws = try? CompactJWS(input) { try checkReading(of: jws) }
        let header = Array(#"{"alg":"ES256","kid":"FUZZKEY123","typ":"JWT"}"#.utf8)
        let parts = [header, input, [UInt8](repeating: 1, count: 64)].map(Base64URL.text)
        if let jws = try? CompactJWS(Array(parts.joined(separator: [UInt8(ascii: ".")]))) {
            try checkReading(of: jws)
        }
        for (app, request) in requests(in: input) { try checkMaking(of: request, app) }
    }

    private static func checkReading(of jws: CompactJWS) throws(BrokenPromise) {
        let content = jws.content
        let text = content.signingInput + [UInt8(ascii: ".")] + Base64URL.text(of: jws.signature.bytes)
        try promise(
            "a JWS is unchanged after it is parsed and encoded again", (try? CompactJWS(text))?.content == content)
        // Inside a JSON string, these quotes would be escaped.
        try promise("a JWS has no exp", !String(decoding: content.claims, as: UTF8.self).contains(#""exp":"#))
    }

    /// The requests that each route parses from a body.
    private static func requests(in body: [UInt8]) -> [(BundleID, AppStoreRequest)] {
        let request = HTTPRequest(method: "POST", target: "/", contentType: "application/json", body: body)
        guard let members = try? RequestMembers.read(request) else { return [] }
        var requests: [(BundleID, AppStoreRequest)] = []
        if let asked = try? OfferRequest(members, spelling: .v1) {
            requests.append(
                (
                    asked.appBundleID,
                    .promotionalOffer(asked.productIdentifier, asked.offerID, asked.transactionID)
                ))
        }
        if let asked = try? IntroductoryOfferRequest(members) {
            let request = AppStoreRequest.introductoryOfferEligibility(
                asked.productID, allowed: asked.allowIntroductoryOffer ?? true, asked.transactionID)
            requests.append((asked.bundleID, request))
        }
        if let asked = try? AdvancedCommerceRequest(members, body: body) {
            requests.append((asked.bundleID, .advancedCommerce(asked.request)))
        }
        return requests
    }

    private static func checkMaking(of request: AppStoreRequest, _ app: BundleID) throws(BrokenPromise) {
        var random = SystemRandomNumberGenerator()
        let nonce = Nonce(using: &random)
        guard let keyID = try? KeyID(utf8: Array("FUZZKEY123".utf8)), let issuer = try? IssuerID(utf8: nonce.uuid.utf8)
        else { return }
        let unsigned = UnsignedJWS(
            keyID: keyID, issuerID: issuer, issuedAtSeconds: 1_767_225_600, bundleID: app, nonce: nonce,
            request: request)
        try promise(
            "no caller's request makes a working key look broken",
            (try? SoundKeyPair().compactJWS(for: unsigned)) != nil)
    }

    private final class SoundKeyPair: SigningKeyPair {
        let fingerprint = ""
        func sign(_ message: [UInt8]) -> [UInt8] { [0x30, 0x06, 2, 1, 1, 2, 1, 1] }
        func verify(_ signature: [UInt8], of message: [UInt8]) -> Bool { true }
    }
}
