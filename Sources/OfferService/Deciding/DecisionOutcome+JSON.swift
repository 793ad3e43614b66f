import OfferCore
import OfferEligibility

extension DecisionOutcome {
    /// Returns the answer of `POST /v1/decisions`, for an outcome without a ``failure``.
    /// - Parameters:
    ///   - showsDetails: true to show the subscriptions, the rules and the values behind each reason.
    ///   - proofs: the proofs to repeat in the answer.
    ///   - hashed: the customer whose hashed username the app needs; nil if the client knows the name.
    func body(showsDetails: Bool, showing proofs: VerifiedProofs?, naming hashed: Customer?) -> [UInt8] {
        var writer = JSONWriter()
        writer.member("environment", customer.app.environment.rawValue)
        if let state = customer.facts.state.summary { writer.member("state", state.rawValue) }
        if let link = customer.link { writer.object("link") { $0.members(of: link) } }
        if case .applicationUsername(let name) = hashed { writer.member("applicationUsername", utf8: name.utf8) }
        if showsDetails {
            writer.objects("subscriptions", customer.facts.state.subscriptions) { $1.write(to: &$0) }
        }
        let eligible = offers.filter { offer in
            switch offer {
            case .signed, .eligible: true
            case .refused, .failed: false
            }
        }
        writer.objects("offers", eligible) { writer, offer in
            switch offer {
            case .signed(let terms, let signed):
                writer.members(of: terms, showsDetails: showsDetails)
                writer.terms(self.terms(of: terms))
                signed.offer.writeSignatures(to: &writer)
            case .eligible(let terms, let gaps):
                writer.members(of: terms, showsDetails: showsDetails)
                writer.terms(self.terms(of: terms))
                if !gaps.isEmpty { writer.member("compactJWSMissing", gaps.codes) }
            case .refused, .failed: break
            }
        }
        let refused = offers.compactMap { if case .refused(let decision) = $0 { decision } else { nil } }
        writer.objects("refused", refused) { writer, decision in
            writer.members(of: decision.offer, showsDetails: showsDetails)
            if showsDetails { writer.reasons(decision.reasons) } else { writer.reasons(decision.codes) }
        }
        if !hasOffer, let alternative { writer.object("instead") { $0.members(of: alternative) } }
        if !introductoryOffers.isEmpty {
            writer.objects("introductoryOffers", introductoryOffers) { writer, offer in
                writer.member("subscriptionGroupID", offer.groupID)
                writer.member("eligible", offer.isEligible.text)
            }
        }
        proofs?.write(to: &writer)
        return writer.finish()
    }
}

extension Truth {
    fileprivate var text: String {
        switch self {
        case .yes: "yes"
        case .no: "no"
        case .unknown: "unknown"
        }
    }
}

extension JSONWriter {
    /// Writes what is known of the terms that a customer agrees to.
    fileprivate mutating func terms(_ terms: ListedTerms?) {
        guard let terms else { return }
        object("terms") { writer in
            if let name = terms.displayName { writer.member("displayName", name) }
            if let mode = terms.mode { writer.member("mode", mode.rawValue) }
            if let duration = terms.duration { writer.member("duration", duration.iso8601) }
            if let count = terms.numberOfPeriods { writer.member("numberOfPeriods", Int64(count)) }
            guard let price = terms.price, let storefront = terms.storefront else { return }
            writer.object("price") { writer in
                writer.member("amount", price.amount)
                if let currency = price.currency { writer.member("currency", currency) }
                writer.member("storefront", storefront)
            }
        }
    }

    fileprivate mutating func members(of alternative: Alternative.Content) {
        switch alternative {
        case .message(let key, let text):
            member("show", "message")
            member("key", key)
            if let text { member("text", text) }
        case .product(let productID):
            member("show", "product")
            member("productID", utf8: productID.text.utf8)
        case .manageSubscriptions: member("show", "manage_subscriptions")
        case .updatePayment: member("show", "update_payment")
        case .nothing: member("show", "nothing")
        }
    }

    fileprivate mutating func members(of link: LinkResult) {
        if let campaign = link.campaign { member("campaign", campaign) }
        member("counts", link.refusal == nil)
        if let refusal = link.refusal { member("code", refusal.rawValue) }
    }

    fileprivate mutating func members(of terms: OfferTerms, showsDetails: Bool) {
        member("productID", utf8: terms.productID.text.utf8)
        member("offerID", utf8: terms.offerID.text.utf8)
        guard showsDetails else { return }
        if let rule = terms.rule.name { member("rule", rule) }
        member("priority", Int64(terms.priority))
    }
}
