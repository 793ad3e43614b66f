import OfferCore
package import OfferEligibility

/// A piece of background work that only one process does at a time, among all processes that use a database.
package struct SharedWork: Hashable, Sendable {
    /// The name that processes share.
    package let name: String

    private init(_ name: String, of app: AppScope? = nil) {
        self.name = app.map { "\(name) \($0.environment.rawValue) \($0.bundleID.text)" } ?? name
    }

    /// Returns the work of reading the notification history of an app.
    package static func recovery(_ app: AppScope) -> SharedWork { SharedWork("recovery", of: app) }

    /// Returns the work of refreshing the subscriptions of an app.
    package static func polling(_ app: AppScope) -> SharedWork { SharedWork("polling", of: app) }

    /// Deleting old payloads.
    package static let pruning = SharedWork("pruning")

    /// Counting redemptions for the metrics.
    package static let countingRedemptions = SharedWork("counting redemptions")
}
