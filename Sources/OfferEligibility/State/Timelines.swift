import OfferCore

/// A customer's subscription periods, by timeline.
///
/// Each family share has its own timeline, and so has a subscription whose buyer is not known, because it may be one. Each
/// Apple Account that uses the same account of the app has its own, too.
/// Subscriptions in different timelines do not replace each other.
struct Timelines {
    private let timelines: [Timeline]

    init(_ subscriptions: [SubscriptionPeriods], _ timing: SubscriptionTiming) {
        timelines = Self.lines(of: subscriptions).map { Timeline($0.flatMap(\.periods), timing) }
    }

    /// Returns the subscriptions of each timeline, in no particular order. One may replace another of the same timeline.
    static func lines(of subscriptions: [SubscriptionPeriods]) -> [[SubscriptionPeriods]] {
        let accounts = Set(subscriptions.compactMap(\.appTransactionID))
        return Array(Dictionary(grouping: subscriptions) { Line($0, hasOneAccount: accounts.count <= 1) }.values)
    }

    subscript(subscription: SubscriptionPeriods) -> Timeline? {
        timelines.first { timeline in
            timeline.periods.contains { $0.originalTransactionID == subscription.originalTransactionID }
        }
    }

    private enum Line: Hashable {
        case group(String, account: TransactionID?)
        case alone(TransactionID)

        /// - Parameter hasOneAccount: true if all subscriptions may belong to one Apple Account. Older data does not
        ///   name Apple Accounts.
        init(_ subscription: SubscriptionPeriods, hasOneAccount: Bool) {
            let account = subscription.appTransactionID
            if let group = subscription.groupID, subscription.ownership == .purchased, hasOneAccount || account != nil {
                self = .group(group, account: hasOneAccount ? nil : account)
            } else {
                self = .alone(subscription.originalTransactionID)
            }
        }
    }
}
