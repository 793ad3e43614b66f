import OfferCore

extension ReasonValue {
    static func texts(_ texts: some Sequence<String>) -> ReasonValue { .list(texts.sorted().map { .text($0) }) }

    init<Value>(_ bounds: Bounds<Value>, _ value: (Value) -> ReasonValue) {
        let members = [("atLeast", bounds.atLeast), ("atMost", bounds.atMost)]
        self = .members(members.compactMap { name, bound in bound.map { Member(name, value($0)) } })
    }

    init(_ range: DateRange) {
        let members = [("from", range.from), ("until", range.until)]
        self = .members(members.compactMap { name, time in time.map { Member(name, .time($0)) } })
    }

    init(_ range: VersionRange) {
        let members = [("from", range.from), ("before", range.before)]
        self = .members(members.compactMap { name, version in version.map { Member(name, .text($0.description)) } })
    }

    init(_ scalar: TeamFactTest.Scalar) {
        switch scalar {
        case .text(let text): self = .text(text)
        case .number(let number): self = .number(number)
        case .bool(let bool): self = .bool(bool)
        }
    }

    /// The value as worded in a sentence.
    package var sentencePart: String {
        var text = ""
        append(to: &text)
        return text
    }

    /// Appends the value as worded in a sentence.
    func append(to text: inout String) {
        switch self {
        case .text(let value): text += value
        case .number(let number):
            text += number == number.rounded() && abs(number) < 1e15 ? String(Int64(number)) : String(number)
        case .bool(let bool): text += bool ? "true" : "false"
        case .time(let time): text += String(decoding: time.iso8601.prefix(10), as: UTF8.self)
        case .duration(let duration): text += duration.configurationText
        case .list(let values):
            for (place, value) in values.enumerated() {
                if place > 0 { text += " or " }
                value.append(to: &text)
            }
        case .members(let members):
            for (place, member) in members.enumerated() {
                if place > 0 { text += " and " }
                text += member.words
                text += " "
                member.value.append(to: &text)
            }
        }
    }
}

extension ReasonValue.Member {
    fileprivate var words: String {
        switch name {
        case "atLeast": "at least"
        case "atMost": "at most"
        default: name
        }
    }
}

extension Duration {
    /// In whole minutes, hours or days, as the configuration file writes them.
    package var configurationText: String {
        let seconds = components.seconds
        if seconds % 86_400 == 0 { return "\(seconds / 86_400)d" }
        if seconds % 3600 == 0 { return "\(seconds / 3600)h" }
        return "\(seconds / 60)m"
    }
}

extension DecisionReason {
    /// The reason in one sentence.
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

    private static func subject(_ fact: String?) -> String {
        guard let fact else { return "Something that the rule asks for" }
        return subjects[fact] ?? "The fact \(fact)"
    }

    /// The fixed sentence of a reason that names no value; nil for others.
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
            "Another promotional offer is redeemed for the next period, and this one would replace it."
        case .billingRetry:
            "The App Store cannot collect the payment. A discount does not repair that."
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
        default: nil
        }
    }

    private static let subjects = [
        "subscription.status": "The subscription's status", "subscription.autoRenew": "Auto-renew",
        "subscription.renewsTo": "The next period's product", "subscription.endedBecause": "The reason of the end",
        "subscription.endedAgo": "The time since the end", "subscription.endsIn": "The time until the end",
        "subscription.renewals": "The number of renewals",
        "subscription.subscribedFor": "The length of the subscription",
        "subscription.lastPeriod": "The kind of the last period",
        "subscription.pendingOffer": "The offer of the next period", "subscription.ownership": "The ownership",
        "subscription.priceIncrease": "The price increase", "subscription.rank": "The rank of the product",
        "everSubscribed": "Whether the customer ever subscribed",
        "usedIntroductoryOffer": "Whether an introductory offer was used", "refunded": "The refund",
        "refundPending": "Whether a refund is requested", "redeemed": "The number of redemptions",
        "winBackOffers": "The App Store's own offer", "owns": "The ownership of the product",
        "originalAppVersion": "The first version of the app", "originalPurchase": "The date of the first download",
        "date": "The date", "environment": "The environment", "subscription": "The subscription",
    ]
}

extension DecisionReason.Source {
    fileprivate var sentence: String {
        switch self {
        case .history: "Send an app receipt in proofs, or let the service ask the App Store."
        case .renewalInfo: "Send the renewal info in proofs, or wait for a notification."
        case .transaction: "Send the signed transaction in proofs."
        case .notification: "The period is over, and the App Store has not said what follows."
        case .appTransaction: "Send the AppTransaction in proofs."
        case .appStore: "The App Store did not answer in time. Ask again in a minute."
        case .teamFact: "Set it with PUT /v1/customers/facts."
        case .catalogue: "Give the product a subscriptionGroupID, and a rank where the rule compares ranks."
        }
    }
}
