/// One subscription of a generated customer, as the App Store knows it now.
struct WorldSubscription: Sendable {
    /// What happens next, and when.
    enum Step: Hashable, Sendable { case purchase, middle, end, graceEnd, recovery, retryEnd, resubscription, never }

    let group: String
    var transactions: [WorldTransaction] = []
    var autoRenews = true
    var nextProductID = ""
    var nextOffer: WorldOffer?
    var expirationIntent: Int?
    var isRetrying = false
    var graceEnd: Int64?
    var priceIncreaseStatus: Int?
    var next: (step: Step, at: Int64)

    init(group: String, purchaseAt: Int64) {
        self.group = group
        next = (.purchase, purchaseAt)
    }

    var originalID: String { transactions[0].id }
    var last: WorldTransaction { transactions[transactions.count - 1] }

    /// Apple's `status`.
    func status(at now: Int64) -> Int {
        if last.revocationDate != nil { return 5 }
        if let graceEnd, isRetrying, now < graceEnd { return 4 }
        if isRetrying { return 3 }
        return expirationIntent == nil && now < last.expiresDate ? 1 : 2
    }
}
