import OfferConsole
import OfferCore
import OfferEligibility
import OfferService
import SubscriberStore

/// The history of a customer, from the stored data.
enum CustomerTimeline {
    /// - Returns: the entries, the newest first.
    static func entries(_ customer: KnownCustomer, in app: Catalogue.App, at now: Timestamp) -> [TimelineView.Entry] {
        entries(customer, customer.owned.state(in: app, at: now), customer.owned.periods(in: app))
    }

    /// - Returns: the entries, the newest first.
    static func entries(
        _ customer: KnownCustomer, _ state: SubscriberState, _ periods: [SubscriptionPeriod]
    ) -> [TimelineView.Entry] {
        let all =
            ofPeriods(periods) + ofChanges(customer.owned.facts) + ofRefunds(state.refunds)
            + ofOffers(customer.ledger, customer.owned.exposures) + ofEvents(customer.owned.events)
            + ofFacts(customer.owned.teamFacts)
            + state.redemptions.map { redemption in
                TimelineView.Entry(
                    at: redemption.at, kind: .redeemed,
                    sentence: "\(redemption.offerID) for \(redemption.productID.text)")
            }
            + state.subscriptions.compactMap { subscription in
                subscription.endedAt.map { end in
                    TimelineView.Entry(at: end, kind: .ended, sentence: subscription.end)
                }
            }
        return all.enumerated().sorted { ($0.element.at, $0.offset) > ($1.element.at, $1.offset) }.map(\.element)
    }

    private static func ofPeriods(_ periods: [SubscriptionPeriod]) -> [TimelineView.Entry] {
        var known: Set<TransactionID> = []
        return periods.sorted { $0.start < $1.start }.map { period in
            let isFirst = known.insert(period.originalTransactionID).inserted
            let offer =
                period.kind == .regular
                ? "" : " with \(period.offerID.map { "the offer \($0)" } ?? "an offer") (\(period.kind.words))"
            return TimelineView.Entry(
                at: period.start, kind: isFirst ? .purchase : .renewal,
                sentence: "\(period.productID.text)\(offer), transaction \(period.transactionID.text)")
        }
    }

    private static func ofChanges(_ facts: SubscriberFacts) -> [TimelineView.Entry] {
        facts.compactMap { fact in
            guard case .renewalChange(let change) = fact.value, let (kind, words) = change.words else { return nil }
            return TimelineView.Entry(
                at: fact.signedDate, kind: kind, sentence: "\(words) (\(change.renewal.productID.text))")
        }
    }

    private static func ofRefunds(_ refunds: [Refund]) -> [TimelineView.Entry] {
        refunds.map { refund in
            let share = refund.percentage.map { ", \(Double($0) / 1000) % of the price" } ?? ""
            return TimelineView.Entry(
                at: refund.at, kind: .refund, sentence: "transaction \(refund.transactionID.text)\(share)")
        }
    }

    private static func ofOffers(_ ledger: LedgerEntries, _ exposures: [Exposure]) -> [TimelineView.Entry] {
        let signed = ledger.authorisations.filter { $0.state != .withdrawn }.map { authorisation in
            TimelineView.Entry(
                at: authorisation.at, kind: .signed,
                sentence: "\(authorisation.offerID.text) for \(authorisation.productID.text)"
                    + (authorisation.source?.rule.map { ", by the rule \($0)" } ?? ""))
        }
        let heldOut = exposures.filter { $0.arm == .heldOut }.map { exposure in
            TimelineView.Entry(
                at: exposure.at, kind: .refused,
                sentence: "\(exposure.offerID.map(\.text.description) ?? "introductory offer") held out"
                    + (exposure.place.map { " by the sample \($0.sample)" } ?? ""))
        }
        return signed + heldOut
    }

    private static func ofEvents(_ events: [OfferEvent]) -> [TimelineView.Entry] {
        events.map { event in
            let error = event.error.map { ": \($0)" } ?? ""
            return TimelineView.Entry(
                at: event.at, kind: event.kind == .failed || event.kind == .dismissed ? .refused : .shown,
                sentence: "the app reports \(event.offerID.text) as \(event.kind.rawValue)\(error)")
        }
    }

    private static func ofFacts(_ facts: [TeamFact]) -> [TimelineView.Entry] {
        facts.map { fact in
            TimelineView.Entry(
                at: fact.setAt, kind: .data, sentence: "your backend set \(fact.name) to \(fact.value.words)")
        }
    }
}

extension TimelineView {
    private static let entriesPerPage = 50

    /// One page of a timeline.
    /// - Parameter page: from 1; a page that does not exist shows the first.
    convenience init(_ entries: [Entry], page: Int, at address: CustomerAddress) {
        let pages = max(1, (entries.count + Self.entriesPerPage - 1) / Self.entriesPerPage)
        let page = (1...pages).contains(page) ? page : 1
        func other(_ number: Int) -> PageAddress? {
            (1...pages).contains(number) ? address.page.with("page", String(number)) : nil
        }
        self.init(
            entries: Array(entries.dropFirst((page - 1) * Self.entriesPerPage).prefix(Self.entriesPerPage)),
            newer: other(page - 1), older: other(page + 1))
    }
}

extension Subscription {
    fileprivate var end: String {
        let reason = endedBecause.map { " (\($0.rawValue.replacing("_", with: " ")))" } ?? ""
        return "access to \(productID.text) ended\(reason)"
    }
}

extension Subscription.PeriodKind {
    fileprivate var words: String { rawValue.replacing("_", with: " ") }
}

extension RenewalChange {
    /// The kind and the words of the change; nil for a change that the timeline shows otherwise.
    fileprivate var words: (TimelineView.Kind, String)? {
        switch (type, subtype) {
        case ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED"): (.autoRenew, "switched off")
        case ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED"): (.autoRenew, "switched on")
        case ("DID_CHANGE_RENEWAL_PREF", "UPGRADE"): (.data, "upgraded at once")
        case ("DID_CHANGE_RENEWAL_PREF", "DOWNGRADE"): (.data, "will change at the next renewal")
        case ("DID_CHANGE_RENEWAL_PREF", "INCREASE_QUANTITY"): (.data, "seats added")
        case ("DID_CHANGE_RENEWAL_PREF", "DECREASE_QUANTITY"): (.data, "will have fewer seats from the next renewal")
        case ("OFFER_REDEEMED", "UPGRADE"): (.data, "upgraded at once, with an offer")
        case ("OFFER_REDEEMED", "DOWNGRADE"): (.data, "will change at the next renewal, with an offer")
        case ("OFFER_REDEEMED", _): nil
        case ("DID_CHANGE_RENEWAL_PREF", _): (.data, "a change of the product was cancelled")
        case ("DID_FAIL_TO_RENEW", "GRACE_PERIOD"): (.billing, "failed; a grace period began")
        case ("DID_FAIL_TO_RENEW", _): (.billing, "failed; the App Store retries")
        case ("GRACE_PERIOD_EXPIRED", _): (.billing, "the grace period is over")
        case ("DID_RENEW", "BILLING_RECOVERY"): (.billing, "collected after a failure")
        case ("EXPIRED", _): nil
        default: (.data, type.lowercased().replacing("_", with: " "))
        }
    }
}
