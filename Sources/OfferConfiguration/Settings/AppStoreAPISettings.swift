package import AppStoreAPI
package import OfferCore
package import OfferCrypto
import OfferEligibility
package import OutgoingHTTP

/// The settings for requests to the App Store about subscriptions, missed notifications and receipts.
package struct AppStoreAPISettings: Sendable {
    package let hosts: APIHosts
    package let receiptHosts: ReceiptServiceHosts
    /// The root certificates to trust for these hosts, in addition to the system's.
    package let roots: [X509Certificate]
    /// The maximum time that a request waits for the App Store's answer about its customer.
    package let wait: Duration

    package init(
        hosts: APIHosts = APIHosts(), receiptHosts: ReceiptServiceHosts = ReceiptServiceHosts(),
        roots: [X509Certificate] = [], wait: Duration = .milliseconds(800)
    ) {
        self.hosts = hosts
        self.receiptHosts = receiptHosts
        self.roots = roots
        self.wait = wait
    }

    /// Creates a client for the App Store's hosts. Close it after the last request.
    /// - Throws: a problem for the operator, if a root certificate cannot be used.
    package func makeClient() throws(Diagnostic) -> OutgoingClient {
        do { return try OutgoingClient(roots: roots, connections: 32, connectLimit: .seconds(60)) } catch {
            throw Diagnostic("a root certificate for the App Store's hosts cannot be used", hint: "check its file")
        }
    }
}

/// The values of `SUBSCRIPTION_OFFERS_APP_STORE_API`.
package enum AppStoreAPIMode: String, CaseIterable, Sendable {
    case on, off
}
