package import OfferCore

/// The billing plan of a subscription period.
package struct BillingPlanType: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let billedUpFront = Self(rawValue: "BILLED_UPFRONT")
    /// Billed monthly during a commitment of twelve months.
    package static let monthly = Self(rawValue: "MONTHLY")

    package static let known: [Self] = [.billedUpFront, .monthly]
}

/// The position of a transaction in a commitment that is billed in parts. Apple calls it `commitmentInfo`.
package struct Commitment: Hashable, Sendable {
    /// The number of the billing period, from 1.
    package var billingPeriodNumber: Int64?
    package var totalBillingPeriods: Int64?
    package var expiresDate: Timestamp?
    /// The price of the whole commitment in thousandths of the transaction's currency.
    package var price: Int64?

    package init(
        billingPeriodNumber: Int64? = nil, totalBillingPeriods: Int64? = nil, expiresDate: Timestamp? = nil,
        price: Int64? = nil
    ) {
        self.billingPeriodNumber = billingPeriodNumber
        self.totalBillingPeriods = totalBillingPeriods
        self.expiresDate = expiresDate
        self.price = price
    }
}

/// The renewal after a commitment. Apple also calls it `commitmentInfo`.
package struct CommitmentRenewal: Hashable, Sendable {
    package var autoRenewProductID: ProductID?
    /// The customer's choice. During a commitment, the `autoRenewStatus` of the renewal info concerns only the next billing
    /// period.
    package var autoRenewStatus: AutoRenewStatus?
    package var billingPlanType: BillingPlanType?
    package var date: Timestamp?
    /// The price in thousandths of the renewal's currency.
    package var price: Int64?

    package init(
        autoRenewProductID: ProductID? = nil, autoRenewStatus: AutoRenewStatus? = nil,
        billingPlanType: BillingPlanType? = nil, date: Timestamp? = nil, price: Int64? = nil
    ) {
        self.autoRenewProductID = autoRenewProductID
        self.autoRenewStatus = autoRenewStatus
        self.billingPlanType = billingPlanType
        self.date = date
        self.price = price
    }
}
