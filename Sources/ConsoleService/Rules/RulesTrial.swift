import OfferConsole
import OfferCore
import OfferEligibility

/// A comparison of new rules with those in force, for every stored customer. It waits, runs, and then has a result.
struct RulesTrial: Sendable {
    enum State: Sendable {
        case waiting(new: Catalogue)
        /// - share: the share of the subscriptions that were read, from 0 to 1.
        case running(share: Double)
        case ended(RulesTrialView.State, at: Timestamp)
    }

    /// 16 hexadecimal digits.
    let id: String
    /// The person who started it.
    let person: String
    let startedAt: Timestamp
    /// The SHA-256 hash of the file.
    let digest: [UInt8]
    var state: State

    var isEnded: Bool { if case .ended = state { true } else { false } }

    var address: PageAddress { PageAddress("/rules/trial").with("trial", id) }

    /// The trial as pages show it.
    var view: RulesTrialView.Trial {
        let state: RulesTrialView.State =
            switch state {
            case .waiting: .waiting
            case .running(let share): .running(share)
            case .ended(let state, _): state
            }
        return RulesTrialView.Trial(
            address: address, id: id, person: person, startedAt: startedAt,
            digest: String(Hexadecimal.text(of: digest).prefix(12)), state: state)
    }
}

extension RulesTrialView.Result {
    convenience init(_ dryRun: RulesDryRun) {
        let offers = dryRun.outcomes.map { offer, outcome in RulesTrialView.Offer(offer, outcome) }
        self.init(
            customers: Int64(dryRun.customers), offers: offers.sorted { $0.names.lexicographicallyPrecedes($1.names) })
    }
}

extension RulesTrialView.Offer {
    fileprivate convenience init(_ offer: RulesDryRun.Offer, _ outcome: RulesDryRun.Outcome) {
        let codes = Set(outcome.inForce.keys).union(outcome.new.keys).compactMap(\.self)
        func side(_ counts: [ReasonCode?: Int], _ rule: String?) -> RulesTrialView.Side {
            RulesTrialView.Side(rule: rule, eligible: counts.isEmpty ? nil : Int64(counts[nil] ?? 0))
        }
        self.init(
            app: offer.app.bundleID.text.description, environment: offer.app.environment.rawValue,
            productID: offer.productID.text.description, offerID: offer.offerID.text.description,
            inForce: side(outcome.inForce, outcome.ruleInForce), new: side(outcome.new, outcome.newRule),
            gained: Int64(outcome.gained.count), lost: Int64(outcome.lost.count),
            reasons: codes.sorted { $0.rawValue < $1.rawValue }.map { code in
                RulesTrialView.Reason(
                    code: code.rawValue, inForce: Int64(outcome.inForce[code] ?? 0), new: Int64(outcome.new[code] ?? 0))
            })
    }
}
