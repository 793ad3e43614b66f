import OfferCore

/// `usedIntroductoryOffer`: whether the customer used an introductory offer in the group of the offered product.
package struct UsedIntroductoryOfferTest: CustomerTestKind, FlagTest {
    package static let name = "usedIntroductoryOffer"
    package static let code = ReasonCode.introductoryOfferUsed
    package static let subject = "Whether an introductory offer was used"

    package let expected: Bool

    package init(_ expected: Bool) {
        self.expected = expected
    }

    package func truth(in context: EvaluationContext) -> Truth {
        guard let groupID = context.groupID else { return .unknown }
        return Truth(context.facts.state.usedIntroductoryOffer(inGroup: groupID).map { $0 == expected })
    }

    package func found(in context: EvaluationContext) -> ReasonValue? {
        context.groupID.flatMap(context.facts.state.usedIntroductoryOffer).map { .bool($0) }
    }

    package func source(in context: EvaluationContext) -> DecisionReason.Source {
        context.groupID == nil ? .catalogue : context.facts.state.historySource
    }

    package func needsCompleteHistory(wanting wanted: Bool) -> Bool { expected != wanted }

    package static func contradiction(among tests: [Self]) -> String? {
        Set(tests).count > 1 ? Contradiction.opposites : nil
    }
}

extension CustomerTest {
    package static func usedIntroductoryOffer(_ expected: Bool) -> CustomerTest {
        CustomerTest(UsedIntroductoryOfferTest(expected))
    }
}
