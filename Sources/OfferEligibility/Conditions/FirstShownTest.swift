package import OfferCore

/// `firstShown`: the time since an offer was first shown, for an offer that ends a while after the customer first saw it.
///
/// It holds for an offer that was not shown yet, as far as apps have reported. A report can only end the offer.
package struct FirstShownTest: CustomerTestKind {
    package static let name = "firstShown"
    package static let code = ReasonCode.firstShown
    package static let subject = "The time since the offer was first shown"

    /// The IDs of promotional offers; nil for the offer that the rule is for.
    package let offers: Set<String>?
    package let within: Duration

    package init(offers: Set<String>? = nil, within: Duration) {
        self.offers = offers
        self.within = within
    }

    package static func read(_ value: some RuleValue) -> Self? {
        let members = value.members(name, known: ["offer", "within"])
        guard let within = members["within"] else {
            if value.memberCount != nil { value.report("firstShown needs within", hint: "such as {within: 1d}") }
            return nil
        }
        let offers = members["offer"].read { $0.set(expected: "an offer ID") { $0.isEmpty ? nil : $0 } }
        guard !offers.isUnreadable, members.count == value.memberCount, let within = within.duration() else {
            return nil
        }
        return Self(offers: offers.value, within: within)
    }

    package func about(_ offerID: OfferID) -> Self {
        Self(offers: offers ?? [offerID.text.description], within: within)
    }

    package func truth(in context: EvaluationContext) -> Truth {
        Truth(first(in: context).map { context.duration(since: $0) <= within } ?? true)
    }

    package var required: ReasonValue { .duration(within) }

    package func found(in context: EvaluationContext) -> ReasonValue? {
        first(in: context).map { .duration(context.duration(since: $0)) }
    }

    package func source(in context: EvaluationContext) -> DecisionReason.Source { .notification }

    package func misuse(wanting wanted: Bool) -> String? {
        wanted ? nil : "firstShown may only limit an offer, because apps can report any time"
    }

    private func first(in context: EvaluationContext) -> Timestamp? {
        context.facts.events.lazy.filter { event in
            event.kind == .shown && offers.map { $0.contains(event.offerID.text.description) } ?? true
        }.map(\.at).min()
    }
}

extension CustomerTest {
    package static func firstShown(_ test: FirstShownTest) -> CustomerTest { CustomerTest(test) }
}
