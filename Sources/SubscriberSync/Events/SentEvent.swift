import OfferCore
import OfferCrypto
import OfferEligibility
import SubscriberStore

/// An event of a customer as receivers get it.
struct SentEvent {
    let event: CustomerEvent
    let app: AppScope
    /// A short text for the customer's account.
    let account: String
    let customer: OwnedCustomer

    private var originalTransactionID: String { customer.firstSubscription?.text.description ?? "" }

    /// The ID: a UUID of version 8 (RFC 9562 section 5.8) from a hash of the event, so that an event that is found again has
    /// the same ID.
    var id: UUIDText {
        get throws(OpenSSLError) {
            let text = [
                app.bundleID.text.description, app.environment.rawValue, originalTransactionID, account, event.key,
            ].joined(separator: "\0")
            var bytes = Array(try SHA256.hash(Array(text.utf8)).prefix(16))
            bytes[6] = bytes[6] & 0x0F | 0x80
            bytes[8] = bytes[8] & 0x3F | 0x80
            guard let id = UUIDText(bytes: bytes) else { preconditionFailure("a UUID has 16 bytes") }
            return id
        }
    }

    /// The JSON object. Unknown members are left out.
    func body(_ id: UUIDText) -> [UInt8] {
        var writer = JSONWriter()
        writer.member("id", utf8: id.utf8)
        writer.member("type", event.kind.rawValue)
        writer.member("at", event.at.milliseconds)
        writer.member("bundleID", utf8: app.bundleID.text.utf8)
        writer.member("environment", app.environment.rawValue)
        writer.object("customer") { writer in
            let names: [CustomerIdentifier?] = [
                customer.firstSubscription.map { .originalTransactionID($0) },
                customer.appAccountToken.map { .appAccountToken($0) },
                customer.applicationUsername.map { .applicationUsername($0) },
                customer.appTransactionID.map { .appTransactionID($0) },
            ]
            for name in names.compactMap(\.self) { writer.member(name) }
        }
        if let productID = event.productID { writer.member("productID", utf8: productID.text.utf8) }
        if let offerID = event.offerID { writer.member("offerID", offerID) }
        if let rule = event.rule { writer.member("rule", rule) }
        if let placement = event.placement { writer.member("placement", placement) }
        if let reason = event.reason { writer.member("reason", reason) }
        return writer.finish()
    }
}
