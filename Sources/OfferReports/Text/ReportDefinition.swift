/// What each number of a report means. The JSON, the HTML and docs/reports.md have the same words.
package enum ReportDefinition: String, CaseIterable, Sendable {
    case exposed, signed, shown, redeemed, kept, conversion, access, effect, paid, engagement, retention, churn
    case periodChurn = "period_churn"
    case split
    case needed

    package func text(_ question: ReportQuestion) -> String {
        switch self {
        case .exposed:
            "Customers with a first decision or retention request at which everything except the share held. Each counts once."
        case .signed: "Customers of the arm offered who were given a signature, and the number of signatures."
        case .shown: "Customers to whom the app reported the offer as shown, or the App Store was told to show it."
        case .redeemed:
            "Customers who redeemed the offer after their exposure. A redemption counts from its first report."
        case .kept:
            "Redeemers who paid the period after the last discounted one at no discount, among those for whom it has come. It must not be refunded, and follow without a gap, except that of a failed payment. Those about whom the data does not say it are counted apart."
        case .conversion:
            "Customers who redeemed within \(question.conversionDays) days, among those exposed at least as long ago."
        case .access:
            "Customers with access so many days after their exposure, grace periods included, among those exposed at least as long ago."
        case .effect:
            "Access on day \(question.effectDay): offered minus held out, each customer in the first arm, redeemed or not. It includes customers of cohorts that are not complete, if their time has come."
        case .paid:
            "What exposed customers paid up to a day, less refunds, with tax and before commission, divided by the customers exposed at least as long ago, without erased ones."
        case .engagement:
            "Customers with a fact of yours on day \(question.effectDay) after their exposure, among those exposed at least as long ago, and the mean of its numbers. A customer without a number counts as 0."
        case .retention:
            "Redeemers who still have access, by Kaplan-Meier. Those who have it at the end of the data count up to then."
        case .churn: "Redeemers whose access ended, by cause, while the causes compete (Aalen-Johansen)."
        case .periodChurn:
            "Redeemers whose access ended in a period, among those with access at its start. Returns are counted beside it."
        case .split:
            "Whether the customers were divided as the rule says. Below 0.001, something is wrong, if at least five customers were expected in each arm."
        case .needed:
            "Customers in both arms with whom the always-valid interval would show the smallest effect worth having, in 8 of 10 cases."
        }
    }
}
