import OfferCore
import OfferEligibility
import OfferReports

extension RetentionSubject {
    /// - Parameter end: the time of the report.
    /// - Returns: nil if the subscription is a family share or a seat, or has no period.
    init?(_ record: RetentionRecord, _ settings: Catalogue.App, until end: Timestamp) {
        guard let customer = record.customer else { return nil }
        let facts = customer.facts.filter { $0.originalTransactionID == record.originalTransactionID }
        guard let history = SubscriptionHistory(of: SubscriberFacts(facts), of: settings, until: end) else {
            return nil
        }
        self.init(ReportedSubscription(history))
        requests = record.shown.map { shown in
            Request(
                at: shown.at, answer: shown.answer, isShown: shown.messageIdentifier != nil,
                caseNumber: shown.caseNumber, rule: shown.rule ?? "")
        }
        turnedOffAt = facts.compactMap { fact in
            guard case .renewalChange(let change) = fact.value, change.type == RenewalChange.autoRenewType,
                change.renewal.choice == .off, fact.signedDate <= end
            else { return nil }
            return fact.signedDate
        }
        let owned = OwnedCustomer(
            customer, known: .originalTransactionID(record.originalTransactionID), by: settings.ownership)
        placements = (owned?.exposures ?? []).compactMap { exposure in
            guard exposure.source.channel == .retention, let offerID = exposure.offerID, let place = exposure.place
            else { return nil }
            return Placement(
                at: exposure.at, productID: exposure.productID.text.description, offerID: offerID.text.description,
                sample: place.sample, arm: exposure.arm == .offered ? .offered : .heldOut)
        }
    }
}
