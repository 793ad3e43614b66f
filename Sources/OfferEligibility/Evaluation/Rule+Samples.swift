extension Rule {
    /// Returns the customer's known places in the samples of the rule.
    func places(in context: EvaluationContext) -> [SamplePlace] {
        shares.compactMap { share in
            switch share.truth(in: context) {
            case .yes: SamplePlace(sample: share.sample, isInSample: true)
            case .no: SamplePlace(sample: share.sample, isInSample: false)
            case .unknown: nil
            }
        }
    }

    /// Returns true if only the place in a sample keeps the condition from holding.
    /// - Parameter truth: the result of the condition.
    func isHeldOut(_ truth: Truth, in context: EvaluationContext) -> Bool {
        guard truth == .no, !shares.isEmpty else { return false }
        // With more samples, the number of combinations would grow too large. Such rules have no use.
        let samples = Array(Set(shares.map(\.sample)).sorted().prefix(Self.maximumSamples))
        return (0..<1 << samples.count).contains { combination in
            let places = samples.enumerated().map { ($1, combination >> $0 & 1 == 1) }
            return condition.truth(in: context.placing(Dictionary(uniqueKeysWithValues: places))) == .yes
        }
    }

    private static let maximumSamples = 4
}

extension Rule {
    /// The names of the samples, sorted.
    package var sampleNames: [String] { Set(shares.map(\.sample)).sorted() }
}

extension Condition {
    /// The different tests of samples.
    var shares: [ShareTest] {
        var shares: [ShareTest] = []
        collectShares(&shares)
        return shares
    }

    private func collectShares(_ shares: inout [ShareTest]) {
        switch self {
        case .all(let members), .any(let members): for member in members { member.collectShares(&shares) }
        case .not(let member), .rule(_, let member): member.collectShares(&shares)
        case .subscription: break
        case .test(let test):
            guard let share = test.kind as? ShareTest, !shares.contains(share) else { return }
            shares.append(share)
        }
    }
}
