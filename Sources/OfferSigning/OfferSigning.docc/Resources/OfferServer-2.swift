import Foundation
import Hummingbird
import OfferSigning

/// The request of Apple's sample, as apps send it.
struct OfferRequest: Decodable {
    let productIdentifier: String
    let offerID: String
    let applicationUsername: String
}

/// The answer of Apple's sample: `keyID`, `nonce`, `timestamp` and `signature`.
extension SignedOffer: @retroactive ResponseEncodable {}

@main struct OfferServer {
    /// Only these offers are signed, whatever an app requests.
    static let offers = ["com.example.app.pro.monthly": ["retention_50off_3m"]]

    static func main() async throws {
        let environment = ProcessInfo.processInfo.environment
        let key = try SigningKey(
            keyID: environment["KEY_ID"] ?? "", contentsOfFile: environment["KEY_FILE"] ?? "")
        let signer = try PromotionalOfferSigner(key: key, bundleID: "com.example.app")
    }
}
