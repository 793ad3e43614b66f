import OfferCore
import OfferEligibility

/// How far the questions to the App Store about one app have come, for metrics.
struct AskingFigures: Hashable, Sendable {
    /// The time up to which the notification history has been read; nil if it never was.
    let recoveredUntil: Timestamp?
    /// The number of subscriptions that should have been asked about by now.
    let due: Int
}
