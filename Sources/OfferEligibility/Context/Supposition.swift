package import OfferCore

/// A change to what is known about a customer, to see how the rules would decide. Nothing is stored.
package struct Supposition: Hashable, Sendable {
    /// True if all of the customer's subscriptions would renew; nil for the known state.
    package let autoRenews: Bool?
    /// A fact of the team; nil for the known facts.
    package let fact: Fact?

    package struct Fact: Hashable, Sendable {
        package let name: String
        package let value: TeamFactValue

        package init(name: String, value: TeamFactValue) {
            self.name = name
            self.value = value
        }
    }

    package init(autoRenews: Bool? = nil, fact: Fact? = nil) {
        self.autoRenews = autoRenews
        self.fact = fact
    }
}

extension CustomerFacts {
    /// Returns the facts as they would be. Auto-renew would be switched now, in those subscriptions in which that is a
    /// change.
    package func supposing(_ supposition: Supposition, at now: Timestamp) -> CustomerFacts {
        var state = state
        if let autoRenews = supposition.autoRenews {
            for place in state.subscriptions.indices where state.subscriptions[place].autoRenews != autoRenews {
                state.subscriptions[place].autoRenews = autoRenews
                state.subscriptions[place].autoRenewChange = Subscription.AutoRenewChange(at: now, isOn: autoRenews)
            }
        }
        var team = team
        if let fact = supposition.fact { team[fact.name] = fact.value }
        return CustomerFacts(
            state: state, environment: environment, team: team, originalAppVersion: originalAppVersion,
            originalPurchase: originalPurchase, places: places, placement: placement, link: link,
            events: events, grants: grants)
    }
}
