import OfferConfiguration
package import OfferCore
import OfferEligibility

/// The progress of sync with the App Store for one app and environment, for metrics.
package struct SyncStatus: Hashable, Sendable {
    /// The time up to which the notification history has been read; nil if it was never read.
    package let recoveredUntil: Timestamp?
    /// The number of subscriptions that should have been polled by now.
    package let due: Int
}
