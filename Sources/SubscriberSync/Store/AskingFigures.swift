import OfferConfiguration
package import OfferCore
import OfferEligibility

/// How far the questions to the App Store about one app have come, for metrics.
package struct AskingFigures: Hashable, Sendable {
    /// The time up to which the notification history has been read; nil if it never was.
    package let recoveredUntil: Timestamp?
    /// The number of subscriptions that should have been asked about by now.
    package let due: Int
}
