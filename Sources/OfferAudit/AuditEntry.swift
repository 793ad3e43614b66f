package import OfferCore

/// One entry of the audit trail: a signature that was made, or requested and refused.
///
/// An entry is a class because it is passed along several times. Passing a struct would retain each of its dozen
/// references every time.
package final class AuditEntry: Sendable {
    package enum Outcome: Hashable, Sendable {
        case signed(KeyID, Nonce)
        /// The value is the problem code that the caller received.
        case refused(String)
    }

    package let time: Timestamp
    package let requestID: String
    /// The name of the principal: a caller's name, or the identity provider of a user.
    package let caller: String
    package let kind: SignatureKind
    package let item: CatalogueItem
    /// The bytes that identify the customer: the signed username or account token, or a transaction ID; nil if the
    /// signature identifies no customer. The trail stores only the HMAC of these bytes.
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

    /// Writes the members of the entry's line.
    /// - Parameter customerCode: computes the HMAC with the key of the trail.
    package func write(to writer: inout JSONWriter, customerCode: ([UInt8]) throws -> [UInt8]) throws {
        writer.member("time", utf8: time.iso8601)
        writer.member("requestID", requestID)
        writer.member("caller", caller)
        writer.member("kind", kind.rawValue)
        writer.member("bundleID", utf8: item.app.text.utf8)
        if let product = item.product { writer.member("productID", utf8: product.text.utf8) }
        if let offer = item.offer { writer.member("offerID", utf8: offer.text.utf8) }
        if let customer {
            // An empty username stands for every customer of an app that attaches no username.
            writer.member("customer", hexadecimal: customer.isEmpty ? [] : try customerCode(customer))
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
