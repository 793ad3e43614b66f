import OfferCore
package import SubscriberStore

/// Where subscribers are remembered, and for how long their notifications are kept as received.
package struct StoreSettings: Hashable, Sendable {
    package let location: StoreLocation
    package let payloadDays: Int

    package init(location: StoreLocation, payloadDays: Int = Settings.payloadDays.defaultValue) {
        self.location = location
        self.payloadDays = payloadDays
    }

    /// The database if the configuration needs one and names none.
    static let usualLocation = StoreLocation.sqlite(path: "data/offer-signer.sqlite")
}
