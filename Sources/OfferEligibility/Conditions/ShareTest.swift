import OfferCore

/// `share`: a deterministic sample of customers. The others are held out for comparison.
package struct ShareTest: CustomerTestKind {
    package static let name = "share"
    package static let code = ReasonCode.holdout
    package static let subject = "The place in the sample"

    /// The share of customers in the sample, from 0 to 1.
    package let share: Double
    /// The name of the sample. A different name gives a different sample.
    package let sample: String

    package init(share: Double, name: String) {
        self.share = share
        sample = name
    }

    package var fact: String { "share.\(sample)" }

    package static func read(_ value: some RuleValue) -> Self? {
        let members = value.members(name, known: ["of", "by"])
        guard let of = members["of"], let by = members["by"] else {
            if value.memberCount != nil {
                value.report("share needs of and by", hint: "such as {of: 0.9, by: winback_2026}")
            }
            return nil
        }
        guard let share = of.text.flatMap({ Double($0) }), share > 0, share <= 1 else {
            return of.refuse(expected: "a number above 0, and at most 1")
        }
        guard let sample = by.text, (1...64).contains(sample.utf8.count), !sample.hasPrefix(Campaign.samplePrefix)
        else {
            return by.refuse(
                expected:
                    "a name of up to 64 bytes that does not begin with \(Campaign.samplePrefix); each name gives a "
                    + "different sample")
        }
        return Self(share: share, name: sample)
    }

    package func truth(in context: EvaluationContext) -> Truth {
        Truth(
            context.assumedPlaces[sample] ?? context.facts.places[sample] ?? position(in: context).map { $0 < share })
    }

    package var required: ReasonValue { .number(share) }

    package func found(in context: EvaluationContext) -> ReasonValue? {
        // A recorded place is not a position.
        context.facts.places[sample].map { .bool($0) } ?? position(in: context).map { .number($0) }
    }

    package func source(in context: EvaluationContext) -> DecisionReason.Source {
        context.facts.state.historySource
    }
}

extension CustomerTest {
    package static func share(_ test: ShareTest) -> CustomerTest { CustomerTest(test) }
}

extension ShareTest {
    /// Returns the customer's position in the sample, from 0 up to 1. It never changes.
    ///
    /// It depends on the Apple Account, which a single transaction can identify. If no data names an account, it
    /// depends on the lowest `originalTransactionId`.
    /// - Returns: nil if an unknown purchase could change the position. Without an Apple Account, or with several, the
    ///   history must be complete. Otherwise, customers could influence their position by withholding purchases.
    package func position(in context: EvaluationContext) -> Double? {
        let state = context.facts.state
        if state.appleAccounts.count == 1 { return state.appleAccounts.first.map { Self.position(of: $0, in: sample) } }
        guard state.history.isOfApp else { return nil }
        let ids =
            state.appleAccounts.isEmpty
            ? state.subscriptions.map(\.originalTransactionID) : Array(state.appleAccounts)
        return ids.min { $0.precedes($1) }.map { Self.position(of: $0, in: sample) }
    }

    private static func position(of id: TransactionID, in sample: String) -> Double {
        // With the finalizer of MurmurHash3, because the last bytes of an ID differ most.
        var hash = FNV1a.hash(Array(sample.utf8) + [0] + Array(id.text.utf8))
        hash = (hash ^ hash >> 33) &* 0xFF51_AFD7_ED55_8CCD
        hash = (hash ^ hash >> 33) &* 0xC4CE_B9FE_1A85_EC53
        return Double((hash ^ hash >> 33) >> 11) / Double(1 << 53)
    }
}
