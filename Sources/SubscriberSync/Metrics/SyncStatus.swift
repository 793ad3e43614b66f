import OfferConfiguration
package import OfferCore
import OfferEligibility

/// The progress of requests to the App Store about one app, for metrics.
package struct SyncStatus: Hashable, Sendable {
    /// The time up to which the notification history has been read; nil if it never was.
    package let recoveredUntil: Timestamp?
    /// The number of subscriptions that should have been polled by now.
    package let due: Int
}
