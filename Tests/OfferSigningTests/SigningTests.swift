import Foundation
import OfferCore
import OfferCrypto
import OfferSignerClient
import TestSupport
import Testing

@testable import OfferSigning

/// The facade signs exactly what the service signs: the golden vectors are the same.
@Suite struct SigningTests {
    static let pem = Result { String(decoding: try PrivateKeyPEM.generate(), as: UTF8.self) }
    static let issuerID = "57246542-96fe-1a63-e053-0824d011072a"

    private func key(_ id: String = "ABCDE12345") throws -> OfferSigning.SigningKey {
        try OfferSigning.SigningKey(keyID: id, pem: Self.pem.get())
    }

    private func account(_ vector: OfferVectors.Vector) throws -> Account {
        if let token = vector.appAccountToken { return .appAccountToken(try #require(UUID(uuidString: token))) }
        return try .applicationUsername(vector.applicationUsername ?? "")
    }

    @Test("the payload of each golden vector is signed, and verifies")
    func vectors() throws {
        let vectors = try OfferVectors.load()
        #expect(!vectors.vectors.isEmpty)
        for vector in vectors.vectors {
            let key = try key(vector.keyID)
            let signer = try PromotionalOfferSigner(key: key, bundleID: vector.appBundleID)
            let offer = try signer.sign(
                productID: vector.productIdentifier, offerID: vector.offerID, for: account(vector),
                nonce: Nonce(utf8: Array(vector.nonce.utf8)), at: Timestamp(milliseconds: vector.timestamp))
            #expect(offer.payload.bytes.hex == vector.payloadHex, "\(vector.name)")
            let der = try #require(Data(base64Encoded: offer.signature))
            #expect(try key.publicKey.accepts(Array(der), offer.payload.bytes, .sha256))
        }
    }

    @Test("the signatures of the golden vectors verify, and with one flipped bit none does")
    func vectorSignatures() throws {
        let vectors = try OfferVectors.load()
        let pem = "-----BEGIN PUBLIC KEY-----\n\(vectors.publicKey.base64EncodedString())\n-----END PUBLIC KEY-----\n"
        for vector in vectors.vectors {
            let verifier = try OfferVerifier(keys: [PublicKey(keyID: vector.keyID, pem: pem)])
            func explanation(_ signature: Data) throws -> Explanation {
                var members: [String: Any] = [
                    "bundleID": vector.appBundleID, "productID": vector.productIdentifier, "offerID": vector.offerID,
                    "keyID": vector.keyID, "nonce": vector.nonce, "timestamp": vector.timestamp,
                    "signature": signature.base64EncodedString(),
                ]
                if let token = vector.appAccountToken {
                    members["appAccountToken"] = token
                } else {
                    members["applicationUsername"] = vector.applicationUsername ?? ""
                }
                return try verifier.explain(json: JSONSerialization.data(withJSONObject: members))
            }
            let good = try explanation(vector.signature)
            #expect(good.isValid && good.findings.isEmpty && good.keyID == vector.keyID, "\(vector.name): \(good)")
            var flipped = vector.signature
            flipped[flipped.count - 1] ^= 1
            #expect(try !explanation(flipped).isValid)
        }
    }

    @Test("the JWS of the golden vector has the same header and claims")
    func jwsVector() throws {
        let vector = try JWSVector.load()
        let content = try CompactJWS(Array(vector.compactJWS.utf8)).content
        let signer = try JWSSigner(
            key: key("\(content.keyID)"), bundleID: "\(content.bundleID.text)", issuerID: "\(content.issuerID.uuid)")
        let jws = try signer.sign(
            content.request, nonce: content.nonce, at: Timestamp(milliseconds: content.issuedAtSeconds * 1000))
        #expect(jws.compactJWS.split(separator: ".").dropLast() == vector.compactJWS.split(separator: ".").dropLast())
    }

    @Test("each kind of JWS has the claims of its kind, and verifies")
    func threeKinds() throws {
        let key = try key()
        let signer = try JWSSigner(key: key, bundleID: "com.example.app", issuerID: Self.issuerID.uppercased())
        let verifier = try OfferVerifier(keys: [key.publicKey], issuerID: Self.issuerID)
        let made = try [
            signer.promotionalOffer(productID: "p", offerID: "o", transactionID: "1"),
            signer.promotionalOffer(productID: "p", offerID: "o", transactionID: nil),
            signer.introductoryOffer(productID: "p", isAllowed: false, transactionID: "1"),
            signer.advancedCommerce(json: #"{"operation":"CREATE_SUBSCRIPTION"}"#),
        ]
        let expected: [AppStoreRequest] = try [
            .promotionalOffer(ProductID(utf8: [0x70]), OfferID(utf8: [0x6F]), TransactionID(utf8: [0x31])),
            .promotionalOffer(ProductID(utf8: [0x70]), OfferID(utf8: [0x6F]), nil),
            .introductoryOfferEligibility(ProductID(utf8: [0x70]), allowed: false, TransactionID(utf8: [0x31])),
            .advancedCommerce(
                try #require(try JSONObjectText(Array(#"{"operation":"CREATE_SUBSCRIPTION"}"#.utf8)))),
        ]
        #expect(try made.map { try CompactJWS(Array($0.compactJWS.utf8)).content.request } == expected)
        #expect(Set(made.map(\.nonce)).count == made.count)
        for jws in made {
            let explanation = try verifier.explain(json: #"{"compactJWS":"\#(jws)"}"#.utf8)
            #expect(explanation.isValid, "\(explanation)")
        }
    }

    @Test("a fresh signature has a new nonce and the present time, and the client library reads it")
    func fresh() async throws {
        let signer = try PromotionalOfferSigner(key: key(), bundleID: "com.example.app")
        let before = Int64(Date().timeIntervalSince1970 * 1000)
        let offers = try (0..<2).map { _ in try signer.sign(productID: "p", offerID: "o", for: .anonymous) }
        #expect(offers[0].nonce != offers[1].nonce && offers[0].nonce == offers[0].nonce.lowercased())
        #expect((before - 1...before + 60_000).contains(offers[0].timestamp))
        let client = OfferClient(
            bundleID: "com.example.app", transport: Answering(body: try JSONEncoder().encode(offers[0])), api: .sample)
        await client.signIn(.anonymous)
        let signed = try await client.sign(client.offer(productID: "p", offerID: "o"))
        #expect(signed.signature?.nonce == offers[0].nonce && signed.signature?.base64 == offers[0].signature)
    }

    private struct Answering: OfferTransport {
        let body: Data
        func send(_ request: TransportRequest) async throws -> TransportAnswer {
            TransportAnswer(status: 200, headers: [:], body: body)
        }
    }
}
