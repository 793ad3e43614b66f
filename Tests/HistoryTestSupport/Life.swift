import OfferCore
import OfferEligibility
import TestSupport

/// The life of one subscription, as the App Store would know it, and the facts that its notifications carry.
///
/// It begins with a purchase and lives through random events. What is true is kept in plain variables, so that the expected
/// state can be read off without any facts.
struct Life {
    /// One paid or free period.
    struct Term {
        let id: String
        let start: Timestamp
        var end: Timestamp
        let product: String
        let isRenewal: Bool
        let price: Int64
        let offer: AppliedOffer?
        var refund: (date: Timestamp, reason: RevocationReason)?
        var isUpgraded = false
        /// The account of the app that bought it.
        let token: UUIDText?
        /// The number of the run.
        let run: Int
        var addedSeats: [AddedSeats] = []
        /// Whether it was signed again after seats had been added. It then looks like added seats itself.
        var isSignedWithSeats = false
    }

    /// Seats that were added during a term, in a transaction of their own.
    struct AddedSeats {
        let id: String
        let start: Timestamp
        let end: Timestamp
        let offer: AppliedOffer?
        let token: UUIDText?
        var refund: Timestamp?
        let quantity: Int64
        /// The refunded seats. The transaction is revoked only with the last.
        var revoked: Int64 = 0
    }

    /// A redemption of a promotional offer, as the customer made it.
    struct OwnRedemption {
        let offerID: String
        let product: String
        let at: Timestamp
    }

    /// What is to follow the last term.
    enum Outlook {
        case running
        /// Nobody knows why, if the reason is nil.
        case ended(Subscription.EndReason)
        case failing(graceUntil: Timestamp?)
    }

    /// The run that goes on in another purchase.
    struct Inheritance {
        let start: Timestamp
        /// The renewals that count.
        let renewals: Int
        let isRunWhole: Bool
    }

    let original: String
    let group: String
    let isShared: Bool
    /// How a share reaches the customer: from a family member, or as a seat of a group.
    let share: OwnershipType
    /// The country or region of the purchases, with its currency.
    let storefront: (code: String, currency: String)
    /// The bills of each commitment; nil for a subscription without one.
    let bills: Int?
    /// The `appTransactionId` of the Apple Account; older data has none.
    let appleAccount: String?
    private(set) var inherited: Inheritance?
    /// When a purchase with another `originalTransactionId` followed in the group.
    var successorStart: Timestamp?
    /// The present account of the app.
    var token: UUIDText?
    /// The length of a day. Sandbox days are ten seconds.
    let day: Int64
    var random: SplitMix64
    var clock: Timestamp
    var terms: [Term] = []
    /// Whether nothing more will happen.
    var isOver = false
    var outlook = Outlook.running
    var autoRenews = true
    var nextProduct = "monthly"
    /// The offer of the next period.
    var pending: AppliedOffer?
    /// The periods that the running offer has left.
    var offerPeriodsLeft = 0
    var offerCount = 0
    /// The promotional offers that the customer redeemed. Each has an offer ID of its own.
    var redemptions: [OwnRedemption] = []
    var priceIncrease: PriceIncreaseStatus?
    var winBackOffers: [String] = []
    var lastRenewal: SubscriberFact?
    var run = 0
    /// The open refund requests, by transaction.
    var requests: [String: Timestamp] = [:]
    var notifications: [HistoryNotification] = []

    init(
        original: String, group: String, isShared: Bool = false, appleAccount: String?, day: Int64, seed: UInt64
    ) throws {
        (self.original, self.group, self.isShared, self.day) = (original, group, isShared, day)
        self.appleAccount = appleAccount
        random = SplitMix64(seed: seed)
        share = Bool.random(using: &random) ? .familyShared : .assigned
        storefront = Self.storefronts.randomElement(using: &random) ?? Self.storefronts[0]
        bills = !isShared && Int.random(in: 0..<4, using: &random) == 0 ? Int.random(in: 2...4, using: &random) : nil
        clock = .day(0)
        pass(Double(Int.random(in: 0..<40, using: &random)))
        try live(from: "monthly", offer: Bool.random(using: &random) ? Self.trial : nil)
    }

    /// A purchase of the same Apple Account in the same group with an `originalTransactionId` of its own: an upgrade if the
    /// last term still runs, else a return.
    init(original: String, after life: inout Life, seed: UInt64) throws {
        (self.original, group, isShared, day) = (original, life.group, life.isShared, life.day)
        (appleAccount, token) = (life.appleAccount, life.token)
        (share, storefront, bills) = (life.share, life.storefront, nil)
        random = SplitMix64(seed: seed)
        clock = max(life.clock, life.last.start)
        let days = Bool.random(using: &random) ? 0.01..<5 : 5..<90
        clock = later(clock, Double.random(in: days, using: &random))
        life.successorStart = clock
        inherited = life.inheritance(at: clock)
        let offers = [nil, AppliedOffer(type: .offerCode, identifier: "code\(original)", discountType: .payAsYouGo)]
        try live(from: "yearly", offer: offers.randomElement(using: &random) ?? nil)
    }

    private mutating func live(from product: String, offer: AppliedOffer?) throws {
        changeAccount()
        try begin(isRenewal: false, product: product, offer: offer)
        try notify("SUBSCRIBED", "INITIAL_BUY")
        for _ in 0..<Int.random(in: 0..<6, using: &random) where !isOver { try liveThroughTerm() }
        if !isOver, chance(70) { try passEvents() }
    }

    /// Another account of the app, or none, may make the next purchase.
    mutating func changeAccount() {
        if chance(40) { token = [nil, UUIDText.account(1), .account(2)].randomElement(using: &random) ?? nil }
    }

    private static let storefronts = [("USA", "USD"), ("DEU", "EUR"), ("JPN", "JPY")]

    static let trial = AppliedOffer(type: .introductory, discountType: .freeTrial, period: "P1W")

    var last: Term { terms[terms.count - 1] }

    /// The number of a term's bill within its commitment, from 1.
    func bill(of term: Term) -> Int? {
        guard let bills, let place = terms.filter({ $0.run == term.run }).firstIndex(where: { $0.id == term.id }) else {
            return nil
        }
        return place % bills + 1
    }

    /// Whether another bill of the commitment follows, whatever the customer chose.
    var isBound: Bool { bill(of: last).map { $0 < bills ?? 0 } ?? false }

    var isRefunded: Bool { last.refund != nil }

    var seatsCount: Int { terms.reduce(0) { $0 + $1.addedSeats.count } }

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    mutating func pass(_ days: Double) {
        clock = Timestamp(milliseconds: clock.milliseconds + max(1000, Int64(days * Double(day))))
    }

    func later(_ time: Timestamp, _ days: Double) -> Timestamp {
        Timestamp(milliseconds: time.milliseconds + Int64(days * Double(day)))
    }

    static func length(of product: String) -> Double { ["weekly": 7, "monthly": 30, "yearly": 365][product] ?? 30 }
}
