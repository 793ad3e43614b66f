import OfferCore

extension CustomerTest {
    /// The reason why the test does not have the wanted result.
    /// - Parameters:
    ///   - truth: the result.
    ///   - wanted: true if the test should hold.
    func reason(_ truth: Truth, wanting wanted: Bool, in context: EvaluationContext) -> DecisionReason {
        if truth == .unknown {
            return DecisionReason(
                .unknown, fact: fact, required: required, isExcluded: !wanted, missing: source(context))
        }
        return DecisionReason(code, fact: fact, found: found(context), required: required, isExcluded: !wanted)
    }

    package var code: ReasonCode {
        switch self {
        case .everSubscribed: .everSubscribed
        case .usedIntroductoryOffer: .introductoryOfferUsed
        case .refunded: .refunded
        case .refundPending: .refundPending
        case .redeemed: .redeemed
        case .winBackOffers: .winBackOffers
        case .owns: .owns
        case .originalAppVersion: .originalAppVersion
        case .originalPurchase: .originalPurchase
        case .fact: .fact
        case .date: .date
        case .share: .holdout
        case .environment: .environment
        }
    }

    private var fact: String {
        switch self {
        case .everSubscribed: "everSubscribed"
        case .usedIntroductoryOffer: "usedIntroductoryOffer"
        case .refunded: "refunded"
        case .refundPending: "refundPending"
        case .redeemed: "redeemed"
        case .winBackOffers: "winBackOffers"
        case .owns: "owns"
        case .originalAppVersion: "originalAppVersion"
        case .originalPurchase: "originalPurchase"
        case .fact(let test): test.name
        case .date: "date"
        case .share(let test): "share.\(test.name)"
        case .environment: "environment"
        }
    }

    private var required: ReasonValue? {
        switch self {
        case .everSubscribed(let value), .usedIntroductoryOffer(let value), .refundPending(let value): .bool(value)
        case .refunded(let test): test.required
        case .redeemed(let test): ReasonValue(test.count) { .number(Double($0)) }
        case .winBackOffers(.none): .text("none")
        case .winBackOffers(.any): .text("any")
        case .winBackOffers(.offers(let ids)): .texts(ids)
        case .owns(let products): .texts(products.map(\.text.description))
        case .originalAppVersion(let range): ReasonValue(range)
        case .originalPurchase(let range), .date(let range): ReasonValue(range)
        case .fact(let test): test.required
        case .share(let test): .number(test.share)
        case .environment(let environments): .texts(environments.map(\.rawValue))
        }
    }

    private func found(_ context: EvaluationContext) -> ReasonValue? {
        let (facts, state) = (context.facts, context.facts.state)
        return switch self {
        case .everSubscribed: state.everSubscribed.map { .bool($0) }
        case .usedIntroductoryOffer:
            context.groupID.flatMap(state.usedIntroductoryOffer).map { .bool($0) }
        case .refunded(let test): test.refunds(in: context).last.map { .time($0.at) }
        case .refundPending: state.hasRefundRequest.map { .bool($0) }
        case .redeemed(let test): .number(Double(test.redemptions(in: context).count))
        case .winBackOffers:
            context.subscription.flatMap { $0.winBackOffers.isEmpty ? nil : .texts($0.winBackOffers) }
        case .owns(let products):
            .texts(products.filter { state.owns($0) == true }.map(\.text.description))
        case .originalAppVersion: facts.originalAppVersion.map { .text($0.description) }
        case .originalPurchase: facts.originalPurchase.map { .time($0) }
        case .fact(let test): facts.team[test.name].flatMap(TeamFactTest.Scalar.init).map { ReasonValue($0) }
        case .date: .time(context.now)
        case .share(let test): test.position(in: context).map { .number($0) }
        case .environment: .text(facts.environment.rawValue)
        }
    }

    private func source(_ context: EvaluationContext) -> DecisionReason.Source {
        switch self {
        case .usedIntroductoryOffer: context.groupID == nil ? .catalogue : context.facts.state.historySource
        case .everSubscribed, .redeemed, .owns, .share, .refunded: context.facts.state.historySource
        case .winBackOffers: context.subscription?.isStale == true ? .appStore : .renewalInfo
        case .originalAppVersion, .originalPurchase: .appTransaction
        case .fact: .teamFact
        case .refundPending, .date, .environment: .notification
        }
    }
}

extension RefundTest {
    fileprivate var required: ReasonValue {
        var members: [ReasonValue.Member] = []
        if let within { members.append(.init("within", .duration(within))) }
        if let reasons { members.append(.init("reason", .texts(reasons.map(\.rawValue)))) }
        return members.isEmpty ? .bool(expected) : .members(members)
    }
}

extension TeamFactTest {
    fileprivate var required: ReasonValue {
        switch requirement {
        case .exists(let exists): .members([.init("exists", .bool(exists))])
        case .isOneOf(let scalars): .list(scalars.map { ReasonValue($0) }.sorted { $0.sentencePart < $1.sentencePart })
        case .number(let bounds): ReasonValue(bounds) { .number($0) }
        case .date(let range): ReasonValue(range)
        }
    }
}
