/// The meaning of each number of a report about subscriptions. The JSON, the HTML and docs/reports.md have the same words.
package enum SubscriptionDefinition: String, CaseIterable, Sendable {
    case active
    case inGrace = "in_grace"
    case inRetry = "in_retry"
    case awaitingConsent = "awaiting_consent"
    case paidDays = "paid_days"
    case new, resubscribed, recovered, appeared, moved, ended, churn, retention, recovery
    case requested
    case cancelledAtOnce = "cancelled_at_once"
    case stayed

    package var text: String {
        switch self {
        case .active:
            "Subscriptions with access, grace periods included. One subscription is one originalTransactionId."
        case .inGrace:
            "Of the active ones, those whose paid time is over while the App Store tries to collect the renewal."
        case .inRetry: "Subscriptions without access whose renewal failed at most 60 days ago, and which are not over."
        case .awaitingConsent: "Of the active ones, those whose customer has not agreed to a price increase."
        case .paidDays: "Active subscriptions by paid days. From 365 days on, Apple's share falls from 30 % to 15 %."
        case .new: "Subscriptions that gave access for the first time."
        case .resubscribed: "Subscriptions that gave access again after a gap, because the customer bought again."
        case .recovered:
            "Subscriptions that gave access again after a gap, because the App Store renewed them: a failed renewal was paid, or the period before was refunded."
        case .appeared: "Subscriptions that began earlier, but of which nothing older is known."
        case .moved: "Subscriptions that came to a group from another one, or left it, without a gap in access."
        case .ended: "Ends of access by cause, on the day on which access ended."
        case .churn: "Subscriptions whose access ended in a week or month, among those with access just before it."
        case .retention:
            "Subscriptions of a cohort with access one day after so many weeks or months, among those that began at least as long ago."
        case .recovery:
            "Renewals that were paid within so many days of their failure, among those that failed at least as long ago."
        case .requested:
            "Requests of the App Store for a retention message, because a customer opened the page to cancel, by the case that answered."
        case .cancelledAtOnce:
            "Subscriptions whose auto-renew was turned off within a day of their first request, among those with a request at least a day ago."
        case .stayed:
            "Subscriptions with access 30 days after their first request, among those with a request at least as long ago."
        }
    }
}
