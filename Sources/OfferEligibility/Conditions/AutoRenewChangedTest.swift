import OfferCore

/// `autoRenewChanged`: the customer switched auto-renewal on or off not long ago, and has not switched it back.
///
/// The time of a switch is known only from the App Store's notification about it.
package struct AutoRenewChangedTest: SubscriptionTestKind {
    package static let name = "autoRenewChanged"
    package static let code = ReasonCode.autoRenewChanged
    package static let subject = "The last switch of auto-renew"

    package let isOn: Bool
    package let within: Duration

    package init(to isOn: Bool, within: Duration) {
        self.isOn = isOn
        self.within = within
    }

    package static func read(_ value: some RuleValue) -> Self? {
        let members = value.members(name, known: ["to", "within"])
        guard let to = members["to"], let within = members["within"] else {
            if value.memberCount != nil {
                value.report("autoRenewChanged needs to and within", hint: "such as {to: off, within: 3d}")
            }
            return nil
        }
        guard let isOn = AutoRenewTest.read(to)?.isOn, let duration = within.duration() else { return nil }
        return Self(to: isOn, within: duration)
    }

    package func truth(of subscription: Subscription, in context: EvaluationContext) -> Truth {
        guard let now = subscription.autoRenews else { return .unknown }
        guard now == isOn else { return .no }
        let change = subscription.autoRenewChange.flatMap { change in
            // A purchase turns auto-renew on, too.
            subscription.isRunWhole && change.at < subscription.subscribedSince ? nil : change
        }
        if let change, (change.isOn ?? isOn) != isOn { return .unknown }
        if let change, context.isWithin(within, change.at) { return change.isCertain ? .yes : .unknown }
        // The notification of a later switch may be missing.
        guard subscription.knowsChanges(since: context.start(of: within)) else { return .unknown }
        return change != nil || isUnswitched(subscription) ? .no : .unknown
    }

    /// Returns true if auto-renew was not switched in the known time, although no switch is known at all. A downgrade
    /// or an offer can turn it on, and the App Store can turn it off, without a notification of their own type.
    private func isUnswitched(_ subscription: Subscription) -> Bool {
        let knowsWholeRun = subscription.isRunWhole && subscription.knowsChanges(since: subscription.subscribedSince)
        return isOn ? knowsWholeRun : !knowsWholeRun && !subscription.isCommitted
    }

    package var required: ReasonValue {
        .members([.init("to", .text(isOn ? "on" : "off")), .init("within", .duration(within))])
    }

    package func found(_ subscription: Subscription) -> ReasonValue? {
        subscription.autoRenewChange.map { change in
            let isOn = change.isOn.map { [.init("to", .text($0 ? "on" : "off"))] } ?? [] as [ReasonValue.Member]
            return .members([.init("at", .time(change.at))] + isOn)
        }
    }

    package func source(_ subscription: Subscription) -> DecisionReason.Source {
        subscription.autoRenews == nil ? .renewalInfo : .notification
    }
}

extension SubscriptionTest {
    package static func autoRenewChanged(to isOn: Bool, within: Duration) -> SubscriptionTest {
        SubscriptionTest(AutoRenewChangedTest(to: isOn, within: within))
    }
}
