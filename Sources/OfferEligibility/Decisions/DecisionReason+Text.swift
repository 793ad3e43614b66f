import OfferCore

extension DecisionReason {
    /// The reason in words, for people.
    package var text: String {
        if missing == nil, let sentence { return sentence }
        var text = Self.subject(fact)
        if let missing {
            text += " is not known. "
            text += missing.sentence
            return text
        }
        if let found {
            text += " is "
            found.append(to: &text)
        } else {
            text += " is none"
        }
        if let required {
            text += isExcluded ? "; the rule excludes " : "; the rule requires "
            required.append(to: &text)
        }
        text += "."
        return text
    }

    /// The reason in words, without and with what would supply an unknown fact.
    package var sentences: (text: String, remedy: String?) {
        guard let missing else { return (text, nil) }
        return (Self.subject(fact) + " is not known.", missing.sentence)
    }

    private static func subject(_ fact: String?) -> String {
        guard let fact else { return "A fact that the rule tests" }
        return subjects[fact] ?? "The fact \(fact)"
    }

    /// The fixed text of a reason without values; nil for other reasons.
    private var sentence: String? {
        switch code {
        case .neverSubscribed:
            "The customer never had a subscription in this app, so the App Store would refuse the offer."
        case .familyShared:
            "The subscription is shared by a family member, and only the purchaser can redeem an offer."
        case .seatAssigned:
            "The subscription is a seat of a group or an organisation, and only the purchaser can redeem an offer."
        case .notPurchaser:
            "The customer did not buy the subscription, and only the purchaser can redeem an offer."
        case .otherOfferPending:
            "Another offer already applies to the next period, and this one would replace it."
        case .billingRetry:
            "The App Store cannot collect the payment. A discount does not help with that."
        case .offerUnavailable:
            "App Store Connect no longer has this offer, so the App Store would refuse its signature."
        case .noSubscription:
            "The customer never subscribed in this group."
        case .holdout:
            "The customer is not in the sample."
        case .customerCap:
            "The customer has redeemed the offer as often as its limit allows, or holds a signature for it."
        case .cooldown:
            "The customer's last redemption of an offer is too recent."
        case .outstanding:
            "The customer holds as many unredeemed signatures for the offer as its limit allows."
        case .totalCap:
            "The offer has been redeemed or signed as often as its total allows."
        case .grantEnded:
            "The grant was used, withdrawn or expired in the meantime. Decide again."
        default: nil
        }
    }

    private static let subjects: [String: String] = {
        var subjects = ["subscription": "The subscription"]
        for kind in SubscriptionTest.kinds { subjects["subscription." + kind.name] = kind.subject }
        for kind in CustomerTest.kinds { subjects[kind.name] = kind.subject }
        // Team facts and samples have their own names.
        subjects["fact"] = nil
        subjects["share"] = nil
        return subjects
    }()
}

extension DecisionReason.Source {
    fileprivate var sentence: String {
        switch self {
        case .history: "Send an app receipt in proofs, or let the service query the App Store."
        case .renewalInfo: "Send the renewal info in proofs, or wait for a notification."
        case .transaction: "Send the signed transaction in proofs."
        case .notification: "The period is over, and the App Store has not reported what follows."
        case .appTransaction: "Send the AppTransaction in proofs."
        case .appStore: "The App Store did not answer in time. Retry in a minute."
        case .teamFact: "Set it with PUT /v1/customers/facts."
        case .placement, .link: "Name it in the request."
        case .catalogue: "Give the product a subscriptionGroupID, and a rank if the rule compares ranks."
        }
    }
}
