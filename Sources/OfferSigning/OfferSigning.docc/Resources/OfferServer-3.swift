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

        let router = Router()
        router.post("offer") { request, context -> SignedOffer in
            let wanted = try await request.decode(as: OfferRequest.self, context: context)
            // Here, a real server also identifies the customer, and decides whether they may have the offer.
            guard offers[wanted.productIdentifier]?.contains(wanted.offerID) == true else {
                throw HTTPError(.forbidden)
            }
            do throws(SigningFailure) {
                return try signer.sign(
                    productID: wanted.productIdentifier, offerID: wanted.offerID,
                    for: .applicationUsername(wanted.applicationUsername))
            } catch {
                guard error.code == .invalidField else { throw error }
                throw HTTPError(.badRequest, message: error.description)
            }
        }

        let port = environment["PORT"].flatMap(Int.init) ?? 8080
        let application = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)))
        try await application.runService()
    }
}
