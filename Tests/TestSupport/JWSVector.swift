import Foundation

/// The published vector in `Tests/Vectors/jws-promotional-offer.json`. It is signed with the key from ``OfferVectors``.
package struct JWSVector: Decodable, Sendable {
    package let header: String
    package let claims: String
    package let compactJWS: String

    package static func load() throws -> JWSVector {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let file = folder.appending(path: "Vectors/jws-promotional-offer.json")
        return try JSONDecoder().decode(JWSVector.self, from: Data(contentsOf: file))
    }
}
