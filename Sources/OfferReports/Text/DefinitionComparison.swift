/// A number whose definition differs from those of App Store Connect and RevenueCat. The HTML and docs/reports.md have the
/// same words.
///
/// Sources: App Store Connect Help, "Subscription events" and "Subscription reports"; the pages of RevenueCat's
/// documentation about its charts for retention, churn and incomplete periods.
package enum DefinitionComparison: String, CaseIterable, Sendable {
    case subscription, end
    case recovered = "payment after billing retry"
    case moved = "upgrade, downgrade"
    case churn, retention
    case running = "running month"
    case days

    package var here: String {
        switch self {
        case .subscription: "one originalTransactionId"
        case .end: "the day on which access ends, after the grace period"
        case .recovered: "recovered; the end before it counts, too"
        case .moved: "moved, no end and no renewal"
        case .churn: "ended, among those with access at the start"
        case .retention: "access one day after so many months, trials and offers included"
        case .running: "shown, hatched, in no total"
        case .days: "UTC or Pacific time"
        }
    }

    package var atApple: String {
        switch self {
        case .subscription: "one subscription of an Apple Account"
        case .end: "a cancellation counts at the end of the period"
        case .recovered: "a new subscription"
        case .moved: "not a renewal"
        case .churn: "not given by period"
        case .retention: "renewed, among those up for renewal in the same period"
        case .running: "shown"
        case .days: "Pacific time; sales reports in fiscal months"
        }
    }

    package var atRevenueCat: String {
        switch self {
        case .subscription: "one customer and product; a change of the product starts anew"
        case .end: "the end of the grace period; a refund on its day"
        case .recovered: "a renewal of the original"
        case .moved: "a new journey"
        case .churn: "ended less resubscribed, by those at the start; can be negative"
        case .retention: "paid again, among those of the cohort that could; without introductory offers"
        case .running: "hatched, in no total"
        case .days: "UTC"
        }
    }
}
