/// The App Store's questions about customers who are about to cancel.
extension StandInWorld {
    /// What the App Store says of a customer who opens the page of a subscription.
    package struct PageView: Sendable {
        package var originalTransactionID: String
        package var productID: String
        package var locale = "en-US"
        package var requestIdentifier: String

        package init(originalTransactionID: String, productID: String, requestIdentifier: String) {
            self.originalTransactionID = originalTransactionID
            self.productID = productID
            self.requestIdentifier = requestIdentifier
        }
    }

    /// The body that the App Store posts.
    package func retentionRequest(_ view: PageView, at now: Int64) throws -> String {
        #"{"signedPayload":"\#(try signer.retentionRequest(view, at: now))"}"#
    }

    /// The product of a subscription that a customer has; nil if there is no such subscription.
    package func product(of originalTransactionID: String) -> String? {
        customer(originalTransactionID)?.subscriptions.first { $0.originalID == originalTransactionID }?.last.productID
    }

    /// Whether a performance test may be about a subscription.
    package func checkTestTransaction(_ id: String) throws {
        guard let customer = customer(id) else { throw Refusal(4_000_006, "Invalid transaction id.") }
        guard customer.subscriptions.contains(where: { $0.transactions.first?.id == id }) else {
            throw Refusal(4_000_187, "Invalid request. The transaction ID provided is not an original transaction ID.")
        }
    }
}
