/// An event of subscriptions that Apple's Subscription Event report has too.
///
/// Source: "Subscription events" and "Subscription Event Report" (version 1_3) in App Store Connect Help.
package enum ComparedEvent: String, CaseIterable, Hashable, Sendable {
    case new, renewed, recovered, resubscribed, cancelled
    case inRetry = "in_retry"

    /// - Parameters:
    ///   - name: the event as Apple's report names it.
    ///   - reason: the reason of a cancellation; empty if the report has none.
    /// - Returns: nil for an event that is not compared.
    init?(apple name: String, reason: String) {
        let name = name.lowercased()
        switch name {
        case "subscribe", "opt-in", "start offer code", "start introductory offer", "start introductory price",
            "start free trial":
            self = .new
        case "renew": self = .renewed
        case "renewal from billing retry": self = .recovered
        case "reactivate": self = .resubscribed
        // A failed payment has ended access before.
        case "cancel" where !reason.lowercased().contains("billing"): self = .cancelled
        default:
            if name.hasPrefix("paid subscription from ") {
                self = .renewed
            } else if name.hasPrefix("reactivate ") {
                self = .resubscribed
            } else if name.hasPrefix("billing retry from ") {
                self = .inRetry
            } else {
                return nil
            }
        }
    }

    /// The events of Apple's report that count, in the words of docs/reports.md.
    package var atApple: String {
        switch self {
        case .new: "*Subscribe*, *Opt-In*, *Start Offer Code*, *Start Introductory Offer*"
        case .renewed: "*Renew*, and each event that begins with *Paid Subscription from*"
        case .recovered: "*Renewal from Billing Retry*"
        case .resubscribed: "*Reactivate*, and each event that begins with it"
        case .cancelled: "*Cancel*, unless the reason is a billing issue"
        case .inRetry: "each event that begins with *Billing Retry from*"
        }
    }

    /// The definition of the event in our own counts, in the words of docs/reports.md.
    package var here: String {
        switch self {
        case .new: "access for the first time"
        case .renewed: "a renewal of the same product without a gap in access, or after a refund"
        case .recovered: "a failed renewal that was paid after a gap in access"
        case .resubscribed: "a purchase after a gap in access"
        case .cancelled: "an end of access that is neither a failed payment nor a refund"
        case .inRetry: "an end of access because of a failed payment"
        }
    }
}
