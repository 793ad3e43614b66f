import OfferCore
import OfferEligibility

extension Commitment {
    enum Member: Int, PayloadMember {
        case billingPeriodNumber, commitmentExpiresDate, commitmentPrice, totalBillingPeriods
    }

    private static let index = MemberIndex<Member>()

    init(_ value: PayloadValue) throws(PayloadError) {
        let reader = try value.reader(Self.index)
        self.init(
            billingPeriodNumber: try reader[.billingPeriodNumber]?.integer(),
            totalBillingPeriods: try reader[.totalBillingPeriods]?.integer(),
            expiresDate: try reader[.commitmentExpiresDate]?.timestamp(),
            price: try reader[.commitmentPrice]?.integer())
    }
}

extension CommitmentRenewal {
    enum Member: Int, PayloadMember {
        case commitmentAutoRenewProductId, commitmentAutoRenewStatus, commitmentRenewalBillingPlanType,
            commitmentRenewalDate, commitmentRenewalPrice
    }

    private static let index = MemberIndex<Member>()

    init(_ value: PayloadValue) throws(PayloadError) {
        let reader = try value.reader(Self.index)
        self.init(
            autoRenewProductID: try reader[.commitmentAutoRenewProductId]?.unlessEmpty?.field(ProductID.init),
            autoRenewStatus: try reader[.commitmentAutoRenewStatus]?.open(),
            billingPlanType: try reader[.commitmentRenewalBillingPlanType]?.open(),
            date: try reader[.commitmentRenewalDate]?.timestamp(),
            price: try reader[.commitmentRenewalPrice]?.integer())
    }
}
