package import Foundation
package import OfferCore

/// The published vectors in `Tests/Vectors/promotional-offer-v1.json`.
package struct OfferVectors: Decodable, Sendable {
    package struct Vector: Decodable, Sendable {
        package let name: String
        package let appBundleID, keyID, productIdentifier, offerID: String
        package let applicationUsername, appAccountToken: String?
        package let nonce: String
        package let timestamp: Int64
        package let payloadHex, payloadSHA256: String
        package let signature: Data

        package var payload: OfferPayload {
            get throws {
                try OfferPayload(
                    appBundleID: BundleID(utf8: Array(appBundleID.utf8)),
                    keyID: KeyID(utf8: Array(keyID.utf8)),
                    productIdentifier: ProductID(utf8: Array(productIdentifier.utf8)),
                    offerID: OfferID(utf8: Array(offerID.utf8)),
                    customer: appAccountToken.map { try Customer(appAccountToken: Array($0.utf8)) }
                        ?? Customer(applicationUsername: Array((applicationUsername ?? "").utf8)),
                    nonce: Nonce(utf8: Array(nonce.utf8)),
                    timestamp: Timestamp(milliseconds: timestamp)
                )
            }
        }
    }

    /// The public key: SubjectPublicKeyInfo in DER.
    package let publicKey: Data
    package let vectors: [Vector]

    package static func load() throws -> OfferVectors {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let file = folder.appending(path: "Vectors/promotional-offer-v1.json")
        return try JSONDecoder().decode(OfferVectors.self, from: Data(contentsOf: file))
    }
}

extension Sequence<UInt8> {
    package var hex: String { map { String(format: "%02x", $0) }.joined() }
}

extension [UInt8] {
    /// Standard base64, encoded by Foundation rather than our own code.
    package var foundationBase64: String { Data(self).base64EncodedString() }
}
