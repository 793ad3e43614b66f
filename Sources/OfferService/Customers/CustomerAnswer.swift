package import OfferCore
package import OfferEligibility
import SubscriberStore

/// The answer of `POST /v1/customers/lookup`, also printed by `offer-signer customers show`.
package enum CustomerAnswer {
    /// The maximum number of events, and of changes, in an answer: the newest.
    static let maximumEvents = 100

    /// The answer about an unknown customer.
    package static let ofUnknownCustomer = Array(#"{"customers":[]}"#.utf8)

    package static func body(_ known: [KnownCustomer], of app: Catalogue.App, at now: Timestamp) -> [UInt8] {
        var writer = JSONWriter()
        writer.objects("customers", known) { $1.owned.write(to: &$0, $1.ledger, in: app, at: now) }
        return writer.finish()
    }
}

extension OwnedCustomer {
    /// - Parameters:
    ///   - ledger: the customer's reservations and redemptions.
    fileprivate func write(
        to writer: inout JSONWriter, _ ledger: LedgerEntries, in configured: Catalogue.App,
        at now: Timestamp
    ) {
        let state = state(in: configured, at: now)
        writer.member("environment", app.environment.rawValue)
        if let appAccountToken { writer.member(.appAccountToken(appAccountToken)) }
        if let applicationUsername { writer.member(.applicationUsername(applicationUsername)) }
        if let appTransactionID { writer.member(.appTransactionID(appTransactionID)) }
        if let storefront = state.storefront { writer.member("storefront", storefront) }
        writer.objects("subscriptions", state.subscriptions) { $1.write(to: &$0, SubscriptionTerms(of: $1, in: facts)) }
        if !state.introductoryGroups.isEmpty {
            writer.member("introductoryOffersUsed", state.introductoryGroups.sorted())
        }
        if !state.purchases.isEmpty { writer.objects("purchases", state.purchases) { $1.write(to: &$0) } }
        writer.objects("redemptions", state.redemptions) { writer, redemption in
            redemption.write(to: &writer)
            guard let known = ledger.redemptions.first(where: { $0.isRecord(of: redemption) }) else { return }
            writer.member("authorised", known.authorisedAt != nil)
        }
        writer.objects("authorisations", ledger.authorisations) { writer, authorisation in
            writer.member("offerID", utf8: authorisation.offerID.text.utf8)
            writer.member("productID", utf8: authorisation.productID.text.utf8)
            let isExpired = authorisation.state == .outstanding && !authorisation.isOutstanding(at: now)
            writer.member("state", isExpired ? "expired" : authorisation.state.rawValue)
            writer.member("at", authorisation.at.milliseconds)
            writer.member("expiresAt", authorisation.expiresAt.milliseconds)
            if let source = authorisation.source { writer.members(of: source) }
        }
        writer.objects("exposures", exposures.sorted { $0.at < $1.at }) { writer, exposure in
            if let offerID = exposure.offerID { writer.member("offerID", utf8: offerID.text.utf8) }
            writer.member("productID", utf8: exposure.productID.text.utf8)
            writer.member("arm", exposure.arm.rawValue)
            if let place = exposure.place { writer.member("sample", place.sample) }
            writer.member("at", exposure.at.milliseconds)
            writer.members(of: exposure.source)
            if let placement = exposure.placement { writer.member("placement", placement) }
        }
        let changes = facts.compactMap { fact -> (fact: SubscriberFact, change: RenewalChange)? in
            if case .renewalChange(let change) = fact.value { (fact, change) } else { nil }
        }
        let newest = changes.sorted { ($0.fact.signedDate, $0.change.type) < ($1.fact.signedDate, $1.change.type) }
            .suffix(CustomerAnswer.maximumEvents)
        writer.objects("changes", Array(newest)) { writer, change in
            change.change.write(
                to: &writer, of: change.fact.originalTransactionID, at: change.fact.signedDate)
        }
        let events = events.sorted { $0.at < $1.at }.suffix(CustomerAnswer.maximumEvents)
        writer.objects("events", Array(events)) { writer, event in
            writer.member("event", event.kind.rawValue)
            writer.member("offerID", utf8: event.offerID.text.utf8)
            writer.member("productID", utf8: event.productID.text.utf8)
            writer.member("at", event.at.milliseconds)
            if let error = event.error { writer.member("error", error) }
        }
        writer.objects("grants", grants) { writer, grant in
            grant.write(to: &writer, grant.state(ledger, at: now), showsCustomer: true)
        }
        writer.object("facts") { writer in
            for fact in teamFacts { writer.rawMembers(fact.member) }
        }
        writer.objects("links", links) { writer, link in
            writer.member(link.identifier)
            writer.member(CustomerIdentifier(link.account))
        }
        if !isComplete { writer.member("complete", false) }
    }
}

extension OneTimePurchase {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("transactionID", utf8: transactionID.text.utf8)
        writer.member("productID", utf8: productID.text.utf8)
        switch type {
        case .nonConsumable?: writer.member("type", "non_consumable")
        case .nonRenewingSubscription?: writer.member("type", "non_renewing_subscription")
        default: break
        }
        writer.member("at", at.milliseconds)
    }
}

extension TeamFact {
    /// The name and the value as a JSON member.
    fileprivate var member: [UInt8] {
        JSONWriter.string(name.utf8) + [UInt8(ascii: ":")]
            + {
                switch value {
                case .text(let utf8): JSONWriter.string(utf8)
                case .number(let utf8): utf8
                case .bool(let value): Array((value ? "true" : "false").utf8)
                }
            }()
    }
}

extension JSONWriter {
    fileprivate mutating func members(of source: OfferSource) {
        if let rule = source.rule { member("rule", rule) }
        member("channel", source.channel.rawValue)
        if let number = source.retentionCase { member("case", number) }
    }
}
