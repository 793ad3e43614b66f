import OfferConsole
import OfferCore
import OfferEligibility
import OfferService
import SubscriberStore

/// The history of a customer, from the stored data.
enum CustomerTimeline {
    /// - Parameter shown: what the App Store was told to show.
    /// - Returns: the entries, the newest first.
    static func entries(
        _ customer: KnownCustomer, _ shown: [RetentionShown], in app: Catalogue.App, at now: Timestamp
    ) -> [TimelineView.Entry] {
        entries(customer, shown, customer.owned.state(in: app, at: now), customer.owned.periods(in: app))
    }

    /// - Returns: the entries, the newest first.
    static func entries(
        _ customer: KnownCustomer, _ shown: [RetentionShown], _ state: SubscriberState, _ periods: [SubscriptionPeriod]
    ) -> [TimelineView.Entry] {
        let owned = customer.owned
        var all = ofPeriods(periods) + ofChanges(owned.facts) + ofRefunds(state.refunds)
        all += ofOffers(customer.ledger, owned.exposures) + ofShown(shown) + ofEvents(owned.events)
        all += ofFacts(owned.teamFacts) + owned.grants.flatMap(ofGrant)
        all += state.redemptions.map { redemption in
            TimelineView.Entry(
                at: redemption.at, kind: .redeemed, sentence: "\(redemption.offerID) for \(redemption.productID.text)")
        }
        all += state.subscriptions.compactMap { subscription in
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
            let share = refund.percentage.map { thousandths in
                let percent = thousandths % 1000 == 0 ? "\(thousandths / 1000)" : "\(Double(thousandths) / 1000)"
                return ", \(percent) % of the price"
            }
            return TimelineView.Entry(
                at: refund.at, kind: .refund, sentence: "transaction \(refund.transactionID.text)\(share ?? "")")
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
        events.filter { !$0.isOfAppStore }.map { event in
            let error = event.error.map { ": \($0)" } ?? ""
            return TimelineView.Entry(
                at: event.at, kind: event.kind == .shown ? .shown : .reported,
                sentence: "the app reports \(event.offerID.text) for \(event.productID.text) as "
                    + "\(event.kind.rawValue)\(error)")
        }
    }

    private static func ofShown(_ shown: [RetentionShown]) -> [TimelineView.Entry] {
        shown.map { shown in
            let rule = shown.rule.map { ", by the rule \($0)" } ?? ""
            return TimelineView.Entry(
                at: shown.at, kind: .shown, sentence: "the App Store was told to show \(shown.words)\(rule)")
        }
    }

    private static func ofGrant(_ grant: OfferGrant) -> [TimelineView.Entry] {
        let offer = "\(grant.offerID.text) for \(grant.productID.text)"
        func entry(_ at: Timestamp, _ sentence: String) -> TimelineView.Entry {
            TimelineView.Entry(at: at, kind: .grant, sentence: "\(offer) \(sentence)")
        }
        let needed = grant.approval == .notNeeded ? "" : ", to be approved by a second person"
        var entries = [
            entry(
                grant.at,
                grant.campaign.map { "granted by a personal link of the campaign \($0)" }
                    ?? "granted by \(grant.maker.label), reason \(grant.purpose.reason)\(needed)")
        ]
        if case .given(let act) = grant.approval { entries.append(entry(act.at, "approved by \(act.person.label)")) }
        if let act = grant.withdrawal { entries.append(entry(act.at, "withdrawn by \(act.person.label)")) }
        return entries
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

extension OfferEvent {
    /// True if the service made the event for an offer that the App Store was told to show. Apps name an account or a
    /// signature.
    fileprivate var isOfAppStore: Bool {
        guard nonce == nil, case .originalTransactionID? = subject.customer else { return false }
        return true
    }
}

extension RetentionShown {
    fileprivate var words: String {
        if let offerID {
            let product = productID.map { " for \($0.text)" } ?? ""
            return "the offer \(offerID.text)\(product) before a cancellation"
        }
        if let productID { return "the product \(productID.text) before a cancellation" }
        if let messageIdentifier { return "the message \(messageIdentifier) before a cancellation" }
        return "no message before a cancellation" + (reason == "rules" ? "" : " (\(reason.replacing("_", with: " ")))")
    }
}

extension Subscription {
    fileprivate var end: String {
        let reason = endedBecause.flatMap { $0 == .other ? nil : " (\($0.rawValue.replacing("_", with: " ")))" } ?? ""
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
