/// One subscription of a generated customer, as the App Store knows it now.
struct WorldSubscription: Sendable {
    /// What happens next, and when.
    enum Step: Hashable, Sendable { case purchase, middle, end, graceEnd, recovery, retryEnd, resubscription, never }

    let group: String
    /// Those that began a period.
    var transactions: [WorldTransaction] = []
    /// Those that added seats to the present or an earlier period.
    var addedSeats: [WorldTransaction] = []
    var storefront = Storefront.all[0]
    /// What the customer wants, also during a commitment.
    var autoRenews = true
    var nextProductID = ""
    var nextOffer: WorldOffer?
    var expirationIntent: Int?
    var isRetrying = false
    var graceEnd: Int64?
    var priceIncreaseStatus: Int?
    /// The seats of the next period; nil if the customer never had more than one.
    var nextSeats: Int?
    var next: (step: Step, at: Int64)

    init(group: String, purchaseAt: Int64) {
        self.group = group
        next = (.purchase, purchaseAt)
    }

    var originalID: String { transactions[0].id }
    var last: WorldTransaction { transactions[transactions.count - 1] }
    var all: [WorldTransaction] { transactions + addedSeats }

    /// A bill that is not the last of its commitment is followed by another, whatever the customer wants.
    var isBound: Bool { last.revocationDate == nil && last.commitment.map { !$0.isLast } ?? false }
    var renewsNextPeriod: Bool { autoRenews || isBound && expirationIntent == nil }

    /// The members of a renewal info that tell what the customer wants during a commitment.
    var commitmentMembers: [(String, String)] {
        guard let commitment = last.commitment, expirationIntent == nil else { return [] }
        let info = """
            {"commitmentAutoRenewProductId":"\(nextProductID)","commitmentAutoRenewStatus":\(autoRenews ? 1 : 0),\
            "commitmentRenewalBillingPlanType":"MONTHLY","commitmentRenewalDate":\(commitment.end),\
            "commitmentRenewalPrice":9990}
            """
        return [("renewalBillingPlanType", "\"MONTHLY\""), ("commitmentInfo", info)]
    }

    /// Apple's `status`.
    func status(at now: Int64) -> Int {
        if last.revocationDate != nil { return 5 }
        if let graceEnd, isRetrying, now < graceEnd { return 4 }
        if isRetrying { return 3 }
        return expirationIntent == nil && now < last.expiresDate ? 1 : 2
    }
}
