import OfferCore
package import OfferEligibility

/// Background work that only one of the processes using a database does at a time.
package struct SharedWork: Hashable, Sendable {
    /// The name, which is the same in all processes.
    package let name: String

    private init(_ name: String, of app: AppScope? = nil) {
        self.name = app.map { "\(name) \($0.environment.rawValue) \($0.bundleID.text)" } ?? name
    }

    /// Returns the work of reading the notification history of an app.
    package static func recovery(_ app: AppScope) -> SharedWork { SharedWork("recovery", of: app) }

    /// Returns the work of refreshing the subscriptions of an app.
    package static func polling(_ app: AppScope) -> SharedWork { SharedWork("polling", of: app) }

    /// The work of deleting old payloads.
    package static let pruning = SharedWork("pruning")

    /// The work of reading App Store Connect, whose limit all processes share.
    package static let catalogueReading = SharedWork("catalogue reading")

    /// The work of making the reports that are requested.
    package static let reporting = SharedWork("reporting")

    /// The work of finding the events of customers.
    package static let findingEvents = SharedWork("finding events")

    /// The work of counting redemptions for the metrics.
    package static let countingRedemptions = SharedWork("counting redemptions")
}
