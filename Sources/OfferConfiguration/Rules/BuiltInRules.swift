import OfferCore
package import OfferEligibility

/// The rules that exist without a configuration file: the six situations of the talk "Subscription Offers Best Practices"
/// (WWDC19-305), and the App Store's own rule for introductory offers.
package enum BuiltInRules {
    /// As `offer-signer rules show` prints them, to copy and change.
    package static let yaml = """
        rules:
          # The customer cancelled, a trial included, or got a refund. Not lapsed by billing: a discount repairs no card.
          win_back:
            subscription: {status: [expired, revoked], endedBecause: [cancelled, refunded]}
          # Still subscribed, but auto-renew is off.
          retention:
            subscription: {status: active, autoRenew: off}
          # A downgrade is scheduled, or many renewals on a lower product. Products need a rank.
          upgrade:
            any:
              - subscription: {status: active, renewsTo: lower}
              - subscription: {status: active, rank: lower, renewals: {atLeast: 6}}
          # The team set the fact careTicket, for example after a complaint or an outage.
          customer_service:
            fact: {name: careTicket, exists: true}
          # Many renewals without a gap.
          loyalty:
            subscription: {status: active, renewals: {atLeast: 11}}
          # Still renewing, but the team expects the customer to leave.
          save:
            all:
              - subscription: {status: active, autoRenew: on}
              - fact: {name: churnRisk, is: high}
          # For introductory offers: never used one in this group, and not subscribed in it now.
          app_store_default:
            all:
              - usedIntroductoryOffer: false
              - not:
                  subscription: {status: [active, billing_grace_period, billing_retry]}

        """

    /// By name.
    package static let conditions: [String: Condition] = {
        let file = YAMLFile(name: "built-in rules")
        let members = file.compose(Array(yaml.utf8))?.members("the file", known: ["rules"])
        let named = RulesReader(members?["rules"], builtIn: [:]).named
        precondition(file.problems.isEmpty, "\(file.problems)")
        return named
    }()
}
