import OfferCore
package import SubscriberStore

/// The location of the subscriber database, and the number of days for which received notifications are kept.
package struct StoreSettings: Hashable, Sendable {
    package let location: StoreLocation
    package let payloadDays: Int

    package init(location: StoreLocation, payloadDays: Int = Settings.payloadDays.defaultValue) {
        self.location = location
        self.payloadDays = payloadDays
    }

    /// The default location, if a database is needed and none is configured.
    static let defaultLocation = StoreLocation.sqlite(path: "data/offer-signer.sqlite")
}
