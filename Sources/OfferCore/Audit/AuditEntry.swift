/// What the audit trail tells of one signature: that it was made, or that it was asked for and refused.
///
/// A class, because it goes from hand to hand, and has a dozen references in it that would each be counted every time.
package final class AuditEntry: Sendable {
    package enum Outcome: Hashable, Sendable {
        case signed(KeyID, Nonce)
        /// With the code of the problem that the caller got.
        case refused(String)
    }

    package let time: Timestamp
    package let requestID: String
    /// Who asked: the name of a caller, or where a user signed in.
    package let caller: String
    package let kind: SignatureKind
    package let item: CatalogueItem
    /// The bytes that name the customer: the username or the token that is signed, or the ID of their transaction. nil where
    /// the signature names nobody. The trail only ever tells their HMAC.
    package let customer: [UInt8]?
    package let outcome: Outcome

    package init(
        time: Timestamp, requestID: String, caller: String, kind: SignatureKind, item: CatalogueItem,
        customer: [UInt8]?, outcome: Outcome
    ) {
        self.time = time
        self.requestID = requestID
        self.caller = caller
        self.kind = kind
        self.item = item
        self.customer = customer
        self.outcome = outcome
    }

    /// Writes the members of its line.
    /// - Parameter code: the HMAC under the key of the trail.
    package func write(to writer: inout JSONWriter, code: ([UInt8]) throws -> [UInt8]) throws {
        writer.member("time", utf8: time.iso8601)
        writer.member("requestID", requestID)
        writer.member("caller", caller)
        writer.member("kind", kind.rawValue)
        writer.member("bundleID", utf8: item.app.text.utf8)
        if let product = item.product { writer.member("productID", utf8: product.text.utf8) }
        if let offer = item.offer { writer.member("offerID", utf8: offer.text.utf8) }
        if let customer {
            // An empty username is everybody's whose app attaches none.
            writer.member("customer", hexadecimal: customer.isEmpty ? [] : try code(customer))
        }
        switch outcome {
        case .signed(let keyID, let nonce):
            writer.member("keyID", utf8: keyID.text.utf8)
            writer.member("nonce", utf8: nonce.uuid.utf8)
            writer.member("outcome", "signed")
        case .refused(let code):
            writer.member("outcome", code)
        }
    }
}
