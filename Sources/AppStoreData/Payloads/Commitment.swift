package import OfferCore
package import OfferEligibility

/// The billing plan of a subscription period.
package struct BillingPlanType: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let billedUpFront = Self(rawValue: "BILLED_UPFRONT")
    package static let monthly = Self(rawValue: "MONTHLY")
}

/// The position of a transaction in a commitment that is billed in parts. Apple calls it `commitmentInfo`.
package struct Commitment: Hashable, Sendable {
    package let billingPeriodNumber: Int64?
    package let totalBillingPeriods: Int64?
    package let expiresDate: Timestamp?
    /// The price in thousandths of the transaction's currency.
    package let price: Int64?

    enum Member: Int, PayloadMember {
        case billingPeriodNumber, commitmentExpiresDate, commitmentPrice, totalBillingPeriods
    }

    private static let index = MemberIndex<Member>()

    init(_ value: PayloadValue) throws(PayloadError) {
        let reader = try value.reader(Self.index)
        billingPeriodNumber = try reader[.billingPeriodNumber]?.integer()
        totalBillingPeriods = try reader[.totalBillingPeriods]?.integer()
        expiresDate = try reader[.commitmentExpiresDate]?.timestamp()
        price = try reader[.commitmentPrice]?.integer()
    }
}

/// The renewal after a commitment. Apple also calls it `commitmentInfo`.
package struct CommitmentRenewal: Hashable, Sendable {
    package let autoRenewProductID: ProductID?
    package let autoRenewStatus: AutoRenewStatus?
    package let billingPlanType: BillingPlanType?
    package let date: Timestamp?
    /// The price in thousandths of the renewal's currency.
    package let price: Int64?

    enum Member: Int, PayloadMember {
        case commitmentAutoRenewProductId, commitmentAutoRenewStatus, commitmentRenewalBillingPlanType,
            commitmentRenewalDate, commitmentRenewalPrice
    }

    private static let index = MemberIndex<Member>()

    init(_ value: PayloadValue) throws(PayloadError) {
        let reader = try value.reader(Self.index)
        autoRenewProductID = try reader[.commitmentAutoRenewProductId]?.unlessEmpty?.field(ProductID.init)
        autoRenewStatus = try reader[.commitmentAutoRenewStatus]?.open()
        billingPlanType = try reader[.commitmentRenewalBillingPlanType]?.open()
        date = try reader[.commitmentRenewalDate]?.timestamp()
        price = try reader[.commitmentRenewalPrice]?.integer()
    }
}
