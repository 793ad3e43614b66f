import Foundation
import OfferSigning

@main struct OfferServer {
    static func main() async throws {
        let environment = ProcessInfo.processInfo.environment
        let key = try SigningKey(
            keyID: environment["KEY_ID"] ?? "", contentsOfFile: environment["KEY_FILE"] ?? "")
        let signer = try PromotionalOfferSigner(key: key, bundleID: "com.example.app")
    }
}
