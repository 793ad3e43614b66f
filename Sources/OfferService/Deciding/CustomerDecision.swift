package import Logging
package import OfferCore
package import OfferEligibility
import SubscriberStore
package import SubscriberSync

/// The decision about one customer whom the store knows, with its reasons. Nothing is signed or reserved, and the App
/// Store is not queried.
package struct CustomerDecision {
    private let outcome: DecisionOutcome
    package let subscriptions: [Subscription]

    /// The decision about one offer, with the reasons for a refusal.
    package struct Verdict: Hashable, Sendable {
        package let offer: OfferTerms
        /// Empty if the customer may have the offer.
        package let reasons: [DecisionReason]
        /// The terms that the customer agrees to; nil if they are unknown.
        package let terms: ListedTerms?
    }

    /// - Parameters:
    ///   - environment: the environment, needed for a customer who is known in several environments; nil to find it.
    ///   - productIDs: the products to decide about; nil for all products.
    ///   - supposition: a change to the known facts.
    ///   - grant: a grant that the customer would have; nil for none.
    ///   - now: the time at which the rules decide.
    package init(
        about identifier: CustomerIdentifier, of app: Catalogue.App, _ bundleID: BundleID,
        in environment: AppStoreEnvironment?, productIDs: Set<ProductID>?, supposing supposition: Supposition? = nil,
        granting grant: OfferGrant? = nil, store: CurrentStore, at now: Timestamp, log: Logger
    ) async throws(Problem) {
        let name = NamedCustomer.Name(
            bundleID: bundleID, identity: NamedCustomer.Identity(identifier), environment: environment)
        let loader = CustomerLoader(store: store, refresher: nil)
        let named = NamedCustomer(name, proofs: nil, unprovenRefresh: .never)
        let customer = try await loader.load(named, app, at: now) { _ in false }
        var facts = supposition.map { customer.facts.supposing($0, at: now) } ?? customer.facts
        if let grant { facts = facts.granting(grant) }
        let decisions = app.rules.decide(facts, about: productIDs, at: now)
        let plans = decisions.filter(\.isEligible).map { decision in
            SignaturePlan(terms: decision.offer, places: [], v1: nil, jws: nil, at: now, expiresAt: now)
        }
        let ledger = OfferLedger(store: store, metrics: ServiceMetrics(), log: log)
        let limits = try await ledger.withReservations { reservations async throws(Problem) in
            try await ledger.reserve(.nothing, of: plans, for: customer, rules: [], at: now, under: nil, &reservations)
        }
        var remaining = limits[...]
        outcome = DecisionOutcome(
            customer: customer, listing: app.listing, alternative: app.rules.alternative(for: facts, at: now),
            offers: decisions.map { decision in
                guard decision.isEligible, let limit = remaining.popFirst() else { return .refused(decision) }
                if case .refused(let codes) = limit {
                    return .refused(OfferDecision(refusing: decision.offer, for: codes))
                }
                return .eligible(decision.offer, gaps: [])
            },
            introductoryOffers: await loader.introductoryOffers(to: customer, named, about: productIDs, app, at: now))
        subscriptions = customer.facts.state.subscriptions
    }

    /// The offers with a rule, the eligible ones first.
    package var verdicts: [Verdict] {
        outcome.offers.map { offer in
            switch offer {
            case .signed(let terms, _), .eligible(let terms, _), .failed(let terms, _):
                Verdict(offer: terms, reasons: [], terms: outcome.terms(of: terms))
            case .refused(let decision):
                Verdict(offer: decision.offer, reasons: decision.reasons, terms: outcome.terms(of: decision.offer))
            }
        }
    }

    /// The state that the app is told; nil if nothing certain is known.
    package var state: SubscriberState.Summary? { outcome.customer.facts.state.summary }

    /// True if the customer may have an offer.
    package var hasOffer: Bool { outcome.hasOffer }

    /// A description of the content that the app shows instead of an offer; nil if the customer may have an offer, or if
    /// the app shows nothing.
    package var alternative: String? { outcome.hasOffer ? nil : outcome.alternative?.words }

    /// The answer of `POST /v1/decisions` with `"sign": false`, on one line.
    package var json: [UInt8] { outcome.body(showsDetails: true, showing: nil, naming: nil) }

    /// The subscriptions and the offers as lines of text, with a sentence for each reason.
    package var text: String {
        var text = "environment: \(outcome.customer.app.environment.rawValue.printable)\n"
        if subscriptions.isEmpty { text += "no subscription of the customer is known\n" }
        for subscription in subscriptions { text += "subscription \(subscription.line)\n" }
        if outcome.offers.isEmpty { text += "no offer with a rule is configured for the product or app\n" }
        for offer in outcome.offers {
            switch offer {
            case .signed(let terms, _), .eligible(let terms, _), .failed(let terms, _): text += "yes  \(terms.line)\n"
            case .refused(let decision):
                text += "no   \(decision.offer.line)\n"
                for reason in decision.reasons { text += "       \(reason.code.rawValue): \(reason.text)\n" }
            }
        }
        if let alternative { text += "instead of an offer, the app shows \(alternative)\n" }
        return text
    }
}

extension Alternative.Content {
    fileprivate var words: String {
        switch self {
        case .message(let key, _): "the message \(key)"
        case .product(let productID): "the product \(productID.text)"
        case .manageSubscriptions: "the page of the customer's subscriptions"
        case .updatePayment: "the page of the customer's payment"
        case .nothing: "nothing"
        }
    }
}

extension NamedCustomer.Identity {
    fileprivate init(_ identifier: CustomerIdentifier) {
        switch identifier {
        case .appAccountToken(let token): self = .account(.appAccountToken(token), claiming: nil)
        case .applicationUsername(let name): self = .account(.applicationUsername(name), claiming: nil)
        case .originalTransactionID(let id): self = .subscription(id)
        case .appTransactionID(let id), .transactionID(let id): self = .boundTransaction(id)
        }
    }
}

extension OfferTerms {
    fileprivate var line: String {
        "\(productID.text) \(offerID.text)" + (rule.name.map { ", by the rule \($0.printable)" } ?? "")
    }
}

extension Subscription {
    fileprivate var line: String {
        func day(_ time: Timestamp) -> String { String(decoding: time.iso8601.prefix(10), as: UTF8.self) }
        var parts = ["\(originalTransactionID.text): \(productID.text)", status.rawValue]
        if let ownership, ownership != .purchased { parts.append(ownership.rawValue) }
        if let autoRenews { parts.append("auto-renew \(autoRenews ? "on" : "off")") }
        if let endedAt {
            parts.append("ended \(day(endedAt))")
        } else if let expiresAt {
            parts.append("\(autoRenews == true ? "renews" : "expires") \(day(expiresAt))")
        }
        return parts.joined(separator: ", ")
    }
}
