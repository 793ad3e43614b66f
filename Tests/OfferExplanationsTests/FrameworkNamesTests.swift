import Foundation
import OfferCore
import OfferCrypto
import TestSupport
import Testing

@testable import OfferExplanations

/// Evidence in the words of the frameworks that wrap StoreKit: see the table in docs/client.md.
@Suite("Names of frameworks")
struct FrameworkNamesTests {
    private static let jws = #""jws": "\#((try? JWSVector.load().compactJWS) ?? "")""#

    private func explanation(_ members: String) throws -> Explanation {
        let vectors = try OfferVectors.load()
        let key = try VerifyingKey(der: Array(vectors.publicKey))
        let vector = try #require(vectors.vectors.first { $0.appAccountToken != nil })
        let json = [
            ("BUNDLE", vector.appBundleID), ("PRODUCT", vector.productIdentifier), ("OFFER", vector.offerID),
            ("TOKEN", vector.appAccountToken ?? ""), ("KEY", vector.keyID), ("NONCE", vector.nonce),
            ("TIME", "\(vector.timestamp)"), ("SIGNATURE", vector.signature.base64EncodedString()),
        ].reduce(members) { $0.replacingOccurrences(of: "<\($1.0)>", with: $1.1) }
        guard case .object(let object) = try JSONReader.read(Array(json.utf8)) else {
            throw CocoaError(.coderReadCorrupt)
        }
        let candidate = CandidateKey(
            id: try KeyID(utf8: Array(vector.keyID.utf8)), standing: .inService, accepts: key.verify)
        return try Explainer(keys: [candidate], now: Timestamp(milliseconds: vector.timestamp))
            .explanation(of: Evidence(object))
    }

    @Test(
        "the arguments of each framework are understood unchanged",
        arguments: [
            // react-native-iap, flutter_inapp_purchase
            """
            {"bundleID": "<BUNDLE>", "sku": "<PRODUCT>", "appAccountToken": "<TOKEN>", "withOffer": {"identifier": "<OFFER>", \
            "keyIdentifier": "<KEY>", "nonce": "<NONCE>", "signature": "<SIGNATURE>", "timestamp": <TIME>}}
            """,
            // in_app_purchase_storekit with StoreKit 2
            """
            {"bundleId": "<BUNDLE>", "productId": "<PRODUCT>", "applicationUserName": "<TOKEN>", "promotionalOffer": \
            {"offerId": "<OFFER>", "signature": {"keyID": "<KEY>", "nonce": "<NONCE>", "timestamp": <TIME>, \
            "signature": "<SIGNATURE>"}}}
            """,
            // in_app_purchase_storekit with StoreKit 1
            """
            {"bundleID": "<BUNDLE>", "productIdentifier": "<PRODUCT>", "applicationUsername": "<TOKEN>", "identifier": "<OFFER>", \
            "keyIdentifier": "<KEY>", "nonce": "<NONCE>", "timestamp": <TIME>, "signature": "<SIGNATURE>"}
            """,
            // cordova-plugin-purchase
            """
            {"bundleID": "<BUNDLE>", "productID": "<PRODUCT>", "applicationUsername": "<TOKEN>", "discount": {"id": "<OFFER>", \
            "key": "<KEY>", "nonce": "<NONCE>", "timestamp": "<TIME>", "signature": "<SIGNATURE>"}}
            """,
        ])
    func understood(evidence: String) throws {
        let explanation = try explanation(evidence)
        #expect(explanation.isGood, "\(explanation)")
    }

    @Test("a JWS in the form of react-native-iap is understood")
    func jws() throws {
        let good = try explanation(
            #"{"withOffer": null, "promotionalOfferJWS": {"offerId": "retention_50off_3m", \#(Self.jws)}}"#)
        #expect(good.isGood, "\(good)")
        let other = try explanation(#"{"promotionalOfferJWS": {"offerId": "other", \#(Self.jws)}}"#)
        #expect(other.cause == .claimDiffers && other.findings.first?.field == "offerIdentifier")
    }

    @Test("a value under two names is refused, and so is a name of no framework")
    func refused() {
        #expect(throws: MemberError.conflicting("offerID", "identifier")) {
            try explanation(#"{"offerID": "a", "withOffer": {"identifier": "a"}, "compactJWS": "a"}"#)
        }
        #expect(throws: MemberError.unknown("ofer")) { try explanation(#"{"compactJWS": "a", "ofer": "a"}"#) }
    }
}
