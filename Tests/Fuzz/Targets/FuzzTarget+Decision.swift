import AppStoreData
import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferService

extension FuzzTarget {
    /// A decision: rules and what the App Store says of a customer. The input is a configuration file, a line `---`, and
    /// transactions, each on a line, or with the renewal info of its subscription on the next one.
    static let decision = FuzzTarget("decision") { input throws(BrokenPromise) in
        let line = Array("\n---\n".utf8)
        let parts = input.split(separator: line, maxSplits: 1, omittingEmptySubsequences: false).map { Array($0) }
        let (file, problems) = ConfigurationFile.read(parts[0], name: "yaml")
        guard problems.isEmpty, let catalogue = file.catalogue else { return }
        _ = CatalogueLint.warnings(about: catalogue)
        let facts = parts.count == 2 ? facts(in: parts[1]) : []
        for app in catalogue.apps.values {
            for now in [Int64.min, 0, 1_762_000_000_000, .max].map(Timestamp.init(milliseconds:)) {
                try check(app, [], at: now)
                try check(app, facts, at: now)
            }
        }
    }

    private static func check(
        _ app: Catalogue.App, _ facts: [SubscriberFact], at now: Timestamp
    ) throws(BrokenPromise) {
        let decisions = decide(app, facts, at: now)
        try promise(
            "the order of arrival does not matter",
            decisions == decide(app, Array(facts.reversed()) + facts, at: now))
        for decision in decisions {
            try promise(
                "an offer is refused for a reason, or not at all", decision.isEligible == decision.reasons.isEmpty)
            try promise("nobody who is unknown gets an offer", !decision.isEligible || !facts.isEmpty)
            for reason in decision.reasons {
                try promise("a reason is a sentence", reason.text.hasSuffix("."))
                try promise(
                    "what is missing is named where a fact is unknown", reason.code == .unknown || reason.missing == nil
                )
            }
        }
        let priorities = decisions.map(\.offer.priority)
        try promise("the best offer comes first", priorities == priorities.sorted(by: >))
    }

    private static func decide(_ app: Catalogue.App, _ facts: [SubscriberFact], at now: Timestamp) -> [OfferDecision] {
        let state = SubscriberState(
            of: SubscriberFacts(facts), environment: .production, groups: app.groups, at: now)
        return app.rules.decide(CustomerFacts(state: state, environment: .production), at: now)
    }

    private static func facts(in text: [UInt8]) -> [SubscriberFact] {
        var facts: [SubscriberFact] = []
        var last: SignedTransaction?
        for line in text.split(separator: UInt8(ascii: "\n")) {
            guard let payload = try? PayloadObject(json: Array(line)) else { continue }
            if let transaction = try? SignedTransaction(payload) {
                last = transaction
                if let fact = try? SubscriberFact(transaction) { facts.append(fact) }
            } else if let info = try? RenewalInfo(payload), let last, let record = try? SubscriptionRecord(last, info),
                let fact = try? SubscriberFact(record)
            {
                facts.append(fact)
            }
        }
        return facts
    }
}
