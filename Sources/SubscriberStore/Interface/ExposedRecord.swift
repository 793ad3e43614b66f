package import OfferCore
package import OfferEligibility

/// An exposure, and what the store knows about its customer.
package struct ExposedRecord: Hashable, Sendable {
    package let exposure: Exposure
    /// nil if nothing is known: after an erasure, or without purchases.
    package let customer: StoredCustomer?
    /// The signatures that the customer was given for the offer, the oldest first.
    package let signatures: [Authorisation]
    /// The values of tracked facts that may belong to the customer, in no particular order; empty if they were not read.
    package let tracked: [TrackedFact]
}

/// A part of the exposures to one offer, which are read in steps.
package struct ExposurePage: Sendable {
    package let records: [ExposedRecord]
    /// The place at which the next step starts; nil after the last one.
    package let next: ExposurePlace?
}

/// A place in the order of the exposures to an offer, which is that of their customers.
package struct ExposurePlace: Hashable, Sendable {
    let kind: Int64
    let value: [UInt8]

    /// The place before all exposures.
    package static let start = ExposurePlace(kind: -1, value: [])
}

/// An offer and the sample whose places make the arms of its report.
package struct ReportedOffer: Hashable, Sendable {
    package let app: AppScope
    package let productID: ProductID
    package let offerID: OfferID
    /// nil if the rule has no sample.
    package let sample: String?

    package init(app: AppScope, productID: ProductID, offerID: OfferID, sample: String?) {
        self.app = app
        self.productID = productID
        self.offerID = offerID
        self.sample = sample
    }
}

/// A subscription about which the App Store requested a retention message, and what the store knows about its customer.
package struct RetentionRecord: Hashable, Sendable {
    package let originalTransactionID: TransactionID
    /// The answers, in no particular order; at least one.
    package let shown: [RetentionShown]
    package let customer: StoredCustomer?
}
