import Foundation
import OfferSignerClient
import SwiftUI

/// Your service.
private let server = URL(string: "http://127.0.0.1:8080")

/// The account token that your backend keeps for the signed-in user. When the user signs out, call `signOut()`.
private let customer =
    UUID(uuidString: "d3b07384-d113-4ec6-a7b1-6f1c2f5e9b10").map(OfferCustomer.appAccountToken)
    ?? .anonymous

@main struct PaywallApp: App {
    private let client: OfferClient

    init() {
        guard let server else { fatalError("the server is not a URL") }
        client = OfferClient(bundleID: "com.example.app", server: server) {
            // The token that your identity provider gave the signed-in user; nil for a service on this machine.
            nil
        }
    }

    var body: some Scene {
        WindowGroup {
            VStack {
                PaywallView(client: client, customer: customer)
                CancelView(client: client, customer: customer) {}
            }
        }
    }
}
