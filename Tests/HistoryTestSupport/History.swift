import OfferCore
import OfferEligibility
import TestSupport

/// The history of one customer in one environment: up to five subscriptions in two groups, and other purchases.
///
/// One may be a family share, one may follow another in its group, and one may belong to another Apple Account. The identifiers
/// are the same in every history.
struct History {
    let environment: AppStoreEnvironment
    let lives: [Life]
    let lifetime: LifetimePurchase?
    /// What names no purchase.
    private let others: [HistoryNotification]
    private let seed: UInt64

    /// - Parameter environment: a random one if nil.
    init(seed: UInt64, environment: AppStoreEnvironment? = nil) throws {
        var random = SplitMix64(seed: seed)
        let isProduction = Bool.random(using: &random)
        self.environment = environment ?? (isProduction ? .production : .sandbox)
        let day: Int64 = self.environment == .production ? 86_400_000 : 10_000
        // Data that names no Apple Account is of one.
        let hasOtherAccount = Int.random(in: 0..<8, using: &random) == 0
        let account = hasOtherAccount || Bool.random(using: &random) ? "a1" : nil
        var lives = [try Life(original: "1", group: "g", appleAccount: account, day: day, seed: random.next())]
        if Int.random(in: 0..<5, using: &random) == 0 {
            lives.append(try Life(original: "2", group: "h", appleAccount: account, day: day, seed: random.next()))
        }
        if Int.random(in: 0..<8, using: &random) == 0 {
            lives.append(
                try Life(
                    original: "3", group: "g", isShared: true, appleAccount: account, day: day, seed: random.next()))
        }
        if Int.random(in: 0..<6, using: &random) == 0 {
            lives.append(try Life(original: "4", after: &lives[0], seed: random.next()))
        }
        if hasOtherAccount {
            lives.append(try Life(original: "5", group: "g", appleAccount: "a2", day: day, seed: random.next()))
        }
        self.lives = lives
        let start = lives[0].clock
        lifetime = Int.random(in: 0..<4, using: &random) == 0 ? try LifetimePurchase(at: start, &random) : nil
        others =
            Int.random(in: 0..<4, using: &random) == 0
            ? HistoryNotification.withoutPurchases(at: start, number: UInt64.random(in: 0..<4, using: &random)) : []
        self.seed = random.next()
    }

    var notifications: [HistoryNotification] {
        lives.flatMap(\.notifications) + (lifetime?.notifications ?? []) + others
    }

    var facts: [SubscriberFact] { notifications.flatMap(\.facts) }

    /// When everything has happened that the facts tell.
    var end: Timestamp {
        (lives.map { max($0.clock, $0.last.start) } + [lifetime?.end ?? .min]).reduce(.min, max)
    }

    /// The facts in random order, with repeats, late replays, device copies, receipts and restored transactions.
    func delivery(_ number: UInt64) throws -> [SubscriberFact] {
        var random = SplitMix64(seed: seed &+ number)
        var delivered = facts
        delivered += try copies(&random)
        for fact in facts where Int.random(in: 0..<3, using: &random) == 0 { delivered.append(fact) }
        return delivered.shuffled(using: &random)
    }

    /// What devices and the answers of the App Store bring beside the notifications.
    func copies(_ random: inout SplitMix64) throws -> [SubscriberFact] {
        try lives.flatMap { try copies(of: $0, &random) }
    }

    private func copies(of life: Life, _ random: inout SplitMix64) throws -> [SubscriberFact] {
        var copies: [SubscriberFact] = []
        for term in life.terms where Int.random(in: 0..<3, using: &random) == 0 {
            guard term.addedSeats.isEmpty || term.isRenewal || term.id == life.original else { continue }
            let date = Timestamp(milliseconds: end.milliseconds + Int64.random(in: 0..<1_000_000, using: &random))
            let copy = try life.fact(of: term, signed: date)
            var receipt = try life.purchase(term)
            (receipt.subscriptionGroupID, receipt.reason, receipt.ownership, receipt.price) = (nil, nil, nil, nil)
            (receipt.additionalReason, receipt.storefront, receipt.currency) = (nil, nil, nil)
            (receipt.billingPlan, receipt.commitment) = (nil, nil)
            (receipt.appAccountToken, receipt.appTransactionID) = (nil, nil)
            let restored = try TestFacts.fact(copy.value, term.id + "0", of: life.original, signed: date)
            let described = try TestFacts.fact(.receiptTransaction(receipt), term.id, of: life.original, signed: date)
            let fetched = try TestFacts.fact(.fetchedTransaction(receipt), term.id, of: life.original, signed: date)
            let sets = [[copy], [described], [restored], [fetched], [copy, described, restored, fetched]]
            copies += sets.randomElement(using: &random) ?? []
        }
        // The date of a renewal info is the date of the redemption that it shows.
        if life.pending == nil, let info = life.lastRenewal, Bool.random(using: &random) {
            copies.append(try TestFacts.fact(info.value, life.original, of: life.original, signed: end.after))
            if case .renewalInfo(let renewal) = info.value {
                copies.append(
                    try TestFacts.fact(
                        .fetchedRenewalInfo(renewal), life.original, of: life.original, signed: end.after))
            }
        }
        return copies
    }
}
