import OfferCore
import OfferEligibility
import OfferReports

extension ExposedCustomer {
    /// - Parameter end: the time of the report.
    init(_ record: ExposedRecord, _ offer: ReportedOffer, _ settings: Catalogue.App, until end: Timestamp) {
        let exposure = record.exposure
        self.init(arm: exposure.arm == .offered ? .offered : .heldOut, exposedAt: exposure.at)
        isErased = exposure.customer == nil
        channel = exposure.source.channel.rawValue
        rule = exposure.source.rule
        rulesDigest = Hexadecimal.text(of: exposure.rulesDigest)
        signedAt = record.signatures.map(\.at).filter { $0 >= exposure.at }
        guard let stored = record.customer,
            let customer = OwnedCustomer(stored, known: exposure.customer, by: settings.ownership)
        else { return }
        shownAt = customer.events.filter { event in
            event.kind == .shown && event.productID == offer.productID && event.offerID == offer.offerID
                && event.at >= exposure.at
        }.map(\.at).min()
        let history = AccessHistory(
            of: customer.facts, inGroupOf: offer.productID, of: settings, until: end)
        storefront = history.storefront(at: exposure.at)
        access = history.spans.map { span in
            AccessSpan(start: span.start, end: span.end, cause: EndCause(span.endedBecause))
        }
        renewedAt = history.renewals
        facts = customer.factHistories(record.tracked)
        payments = history.payments.map { Payment(at: $0.at, currency: $0.currency, amount: $0.amount) }
        let redeemed = history.redemption(of: offer.productID, offer.offerID, since: exposure.at) { time in
            record.signatures.contains { $0.wasValid(at: time) }
        }
        guard let redeemed else { return }
        redeemedAt = redeemed.at
        afterDiscount = AfterDiscount(redeemed.afterwards)
    }
}

extension EndCause {
    init(_ reason: Subscription.EndReason) {
        switch reason {
        case .cancelled: self = .cancelled
        case .billing: self = .billing
        case .priceIncrease: self = .price
        case .refunded: self = .refunded
        case .productUnavailable, .other: self = .other
        }
    }
}

extension ExposedCustomer.AfterDiscount {
    fileprivate init(_ afterwards: AccessHistory.Afterwards) {
        switch afterwards {
        case .notYet: self = .notYet
        case .kept: self = .kept
        case .lost: self = .lost
        case .unknown: self = .unknown
        }
    }
}
