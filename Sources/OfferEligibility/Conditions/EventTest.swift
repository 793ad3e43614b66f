import OfferCore

/// An event that `shown` or `dismissed` counts.
package protocol CountedEvent: Sendable {
    static var name: String { get }
    static var code: ReasonCode { get }
    static var subject: String { get }
    static var kind: OfferEvent.Kind { get }
}

package enum ShownEvent: CountedEvent {
    package static let name = "shown"
    package static let code = ReasonCode.shown
    package static let subject = "The number of times that the offer was shown"
    package static let kind = OfferEvent.Kind.shown
}

package enum DismissedEvent: CountedEvent {
    package static let name = "dismissed"
    package static let code = ReasonCode.dismissed
    package static let subject = "The number of times that the customer closed the offer"
    package static let kind = OfferEvent.Kind.dismissed
}

/// `shown` and `dismissed`: the number of events that apps reported.
///
/// A report that is missing counts as no event, because most customers have none. So that no report gives a customer an
/// offer, a rule may only set an upper limit: `not: {shown: {count: {atLeast: 3}}}`, or `shown: {count: {atMost: 2}}`.
package struct EventTest<Event: CountedEvent>: CustomerTestKind {
    package static var name: String { Event.name }
    package static var code: ReasonCode { Event.code }
    package static var subject: String { Event.subject }

    /// The IDs of promotional offers; nil for all.
    package let offers: Set<String>?
    /// The maximum age of the events; nil for no limit.
    package let within: Duration?
    package let count: Bounds<Int>

    package init(offers: Set<String>? = nil, within: Duration? = nil, count: Bounds<Int> = Bounds(atLeast: 1)) {
        self.offers = offers
        self.within = within
        self.count = count
    }

    package static func read(_ value: some RuleValue) -> Self? {
        if value.text != nil {
            return value.flag().map { Self(count: $0 ? Bounds(atLeast: 1) : Bounds(atMost: 0)) }
        }
        guard let members = value.knownMembers(name, known: ["offer", "within", "count"]) else { return nil }
        let offers = members["offer"].read { $0.set(expected: "an offer ID") { $0.isEmpty ? nil : $0 } }
        let within = members["within"].read { $0.duration() }
        let count = members["count"].read { $0.limits() }
        guard !offers.isUnreadable, !within.isUnreadable, !count.isUnreadable else { return nil }
        if let bounds = count.value,
            [bounds.atLeast, bounds.atMost].contains(where: { $0 ?? 0 >= OfferEvent.maximumCount })
        {
            // Older events are not kept.
            return members["count"]?.refuse(expected: "numbers below \(OfferEvent.maximumCount)")
        }
        return Self(offers: offers.value, within: within.value, count: count.value ?? Bounds(atLeast: 1))
    }

    package func truth(in context: EvaluationContext) -> Truth { Truth(count.contains(number(in: context))) }

    package var required: ReasonValue { ReasonValue(count) { .number(Double($0)) } }

    package func found(in context: EvaluationContext) -> ReasonValue? { .number(Double(number(in: context))) }

    package func source(in context: EvaluationContext) -> DecisionReason.Source { .notification }

    package func misuse(wanting wanted: Bool) -> String? {
        let isUpperLimit = wanted ? count.atLeast == nil : count.atMost == nil
        return isUpperLimit ? nil : "\(Self.name) may only limit an offer, because apps can report any number"
    }

    package static func contradiction(among tests: [Self]) -> String? {
        let isApart = tests.contains { test in
            tests.filter { $0.offers == test.offers && $0.within == test.within }.map(\.count).areApart()
        }
        return isApart ? Contradiction.ranges : nil
    }

    private func number(in context: EvaluationContext) -> Int {
        context.facts.events.count { event in
            event.kind == Event.kind && offers.map { $0.contains(event.offerID.text.description) } ?? true
                && context.isWithin(within, event.at)
        }
    }
}

extension RuleValue {
    /// Reads the count of an event test. A single number is a lower bound, because `count: 3` means the third time.
    fileprivate func limits() -> Bounds<Int>? {
        text == nil ? counts() : count().map { Bounds(atLeast: $0) }
    }
}

extension CustomerTest {
    package static func shown(_ test: EventTest<ShownEvent>) -> CustomerTest { CustomerTest(test) }
    package static func dismissed(_ test: EventTest<DismissedEvent>) -> CustomerTest { CustomerTest(test) }
}
