/// An event about an offer in the app. Events are for reports and can limit offers. They never give a customer an offer.
public struct OfferEvent: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public static let shown = OfferEvent(rawValue: "shown")
    public static let dismissed = OfferEvent(rawValue: "dismissed")
    public static let purchased = OfferEvent(rawValue: "purchased")
    /// The purchase waits for another person, for example in Ask to Buy.
    public static let pending = OfferEvent(rawValue: "pending")
    public static let failed = OfferEvent(rawValue: "failed")
}

/// An event in the form of `POST /v1/offers/events`.
struct ReportedEvent: Hashable, Sendable, Encodable {
    let event: String
    var nonce: String?
    var productID: String?
    var offerID: String?
    var appAccountToken: String?
    var applicationUsername: String?
    /// In milliseconds since 1970, by the service's clock; nil before its first answer.
    var at: Int64?
    var error: String?

    /// - Returns: nil for a customer without an identifier: the service could not tell whose event it is.
    static func of(_ offer: Offer, _ customer: OfferCustomer, _ event: OfferEvent, at: Int64?) -> ReportedEvent? {
        guard customer != .anonymous else { return nil }
        return ReportedEvent(
            event: event.rawValue, productID: offer.productID, offerID: offer.offerID,
            appAccountToken: customer.appAccountToken, applicationUsername: customer.applicationUsername, at: at)
    }

    /// StoreKit's error, cut to the 128 bytes that the service accepts.
    static func short(_ text: String) -> String {
        var short = text.filter { !$0.unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) } }
        while short.utf8.count > 128 { short.removeLast() }
        return short.isEmpty ? "unknown" : short
    }
}
