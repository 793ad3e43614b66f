import OfferCore

/// `winBackOffers`: the App Store's win-back offers for the customer.
package enum WinBackTest: CustomerTestKind {
    package static let name = "winBackOffers"
    package static let code = ReasonCode.winBackOffers
    package static let subject = "The App Store's own offer"

    case none
    case any
    case offers(Set<String>)

    package static func read(_ value: some RuleValue) -> Self? {
        switch value.text {
        case "none"?: Self.none
        case "any"?: .any
        default:
            value.set(expected: "none, any or an offer ID") { $0.isEmpty ? nil : $0 }.map { .offers($0) }
        }
    }

    package func truth(in context: EvaluationContext) -> Truth {
        // Only renewal info lists win-back offers.
        guard let subscription = context.subscription, subscription.hasRenewalInfo, !subscription.isStale else {
            return .unknown
        }
        let (offers, isKnown) = (subscription.winBackOffers, subscription.areWinBackOffersKnown)
        switch self {
        case .none: return offers.isEmpty && !isKnown ? .unknown : Truth(offers.isEmpty)
        case .any: return offers.isEmpty && !isKnown ? .unknown : Truth(!offers.isEmpty)
        case .offers(let ids): return offers.contains(where: ids.contains) ? .yes : isKnown ? .no : .unknown
        }
    }

    package var required: ReasonValue {
        switch self {
        case .none: .text("none")
        case .any: .text("any")
        case .offers(let ids): .texts(ids)
        }
    }

    package func found(in context: EvaluationContext) -> ReasonValue? {
        context.subscription.flatMap { $0.winBackOffers.isEmpty ? nil : .texts($0.winBackOffers) }
    }

    package func source(in context: EvaluationContext) -> DecisionReason.Source {
        context.subscription?.isStale == true ? .appStore : .renewalInfo
    }

    package static func contradiction(among tests: [Self]) -> String? {
        let isApart = tests.contains(.none) && tests.contains { $0 != .none }
        return isApart ? "one of its members requires a win-back offer, and another requires none" : nil
    }
}

extension CustomerTest {
    package static func winBackOffers(_ test: WinBackTest) -> CustomerTest { CustomerTest(test) }
}
