import OfferCore
package import OfferEligibility

/// The rules that need no configuration file: one for each of the six situations in the talk "Subscription Offers Best
/// Practices" (WWDC19-305), two more, and the App Store's own rule for introductory offers.
package enum BuiltInRules {
    /// The rules as YAML, which `offer-signer rules show` prints for copying.
    package static let yaml = """
        rules:
          # The customer cancelled, even in a trial, or got a refund. Failed payments do not count: a discount fixes no card.
          win_back:
            subscription: {status: [expired, revoked], endedBecause: [cancelled, refunded]}
          # The customer is still subscribed, but auto-renew is off.
          retention:
            subscription: {status: active, autoRenew: off}
          # A downgrade is scheduled, or a lower product has renewed many times. Products need a rank.
          upgrade:
            any:
              - subscription: {status: active, renewsTo: lower}
              - subscription: {status: active, rank: lower, renewals: {atLeast: 6}}
          # A downgrade is scheduled for the next period. Products need a rank.
          downgrade:
            subscription: {status: active, renewsTo: lower}
          # The subscription ended because the customer did not agree to a higher price.
          lost_to_price_increase:
            subscription: {status: expired, endedBecause: price_increase}
          # The team set the fact careTicket, for example after a complaint or an outage.
          customer_service:
            fact: {name: careTicket, exists: true}
          # The subscription has renewed many times without a gap.
          loyalty:
            subscription: {status: active, renewals: {atLeast: 11}}
          # The subscription still renews, but the team expects the customer to leave.
          save:
            all:
              - subscription: {status: active, autoRenew: on}
              - fact: {name: churnRisk, is: high}
          # For introductory offers: the customer never used one in this group, and is not subscribed in it now.
          app_store_default:
            all:
              - usedIntroductoryOffer: false
              - not:
                  subscription: {status: [active, billing_grace_period, billing_retry]}

        """

    /// The conditions of the rules, by name.
    package static let conditions: [String: Condition] = {
        let file = YAMLFile()
        let members = file.compose(Array(yaml.utf8))?.members("the file", known: ["rules"])
        let named = RulesReader(members?["rules"], builtIn: [:]).named
        precondition(file.problems.isEmpty, "\(file.problems)")
        return named
    }()
}
