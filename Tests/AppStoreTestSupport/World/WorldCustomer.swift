import TestSupport

/// A customer: one Apple Account in one app, and what it does. Most are generated from a seed; some are directed.
struct WorldCustomer: Sendable {
    let number: Int
    var account: String?
    var subscriptions: [WorldSubscription]
    /// Apple's `inAppOwnershipType` of all purchases. A member of a group or a family has what somebody else pays for.
    let ownership: String
    private var isMember: Bool { ownership != "PURCHASED" }
    /// True if the customer does only what they are told, and renews.
    private let isDirected: Bool
    private let clock: WorldClock
    private let isSandbox: Bool
    private var random: SplitMix64
    private var modifications = 0
    private var purchases = 0

    private static let weekly = "com.example.app.pro.weekly"
    /// A product with a commitment of twelve months, paid monthly.
    private static let committed = "com.example.app.pro.yearly"

    /// - Parameter start: when the world begins. Customers buy from a week before until a week later.
    init(number: Int, seed: UInt64, start: Int64, clock: WorldClock, isSandbox: Bool) {
        self.number = number
        self.clock = clock
        self.isSandbox = isSandbox
        isDirected = false
        random = SplitMix64(seed: seed &* 1_000_003 &+ UInt64(number))
        account = nil
        let first = start + Int64.random(in: -clock.days(7)..<clock.days(5), using: &random)
        subscriptions = [WorldSubscription(group: "21012345", purchaseAt: first)]
        if Int.random(in: 0..<8, using: &random) == 0 {
            subscriptions.append(WorldSubscription(group: "21099999", purchaseAt: first + clock.days(1)))
        }
        ownership = number % 24 == 7 ? "ASSIGNED" : number % 24 == 19 ? "FAMILY_SHARED" : "PURCHASED"
        for place in subscriptions.indices { subscriptions[place].storefront = Storefront.all[number % 3] }
        if chance(85) { account = Self.uuid(random.next(), random.next()) }
    }

    /// A customer who does only what they are told, and renews. They begin without a purchase.
    init(directed number: Int, account: String?, clock: WorldClock, isSandbox: Bool) {
        self.number = number
        self.account = account
        self.clock = clock
        self.isSandbox = isSandbox
        isDirected = true
        random = SplitMix64(seed: UInt64(number))
        ownership = "PURCHASED"
        subscriptions = [WorldSubscription(group: "21012345", purchaseAt: .max)]
        subscriptions[0].next = (.never, .max)
    }

    var appTransactionID: String { "\(704_897_469_903_278_336 + number + (isSandbox ? 1_000_000_000 : 0))" }

    /// When something happens next; nil if nothing does.
    var nextEvent: Int64? { subscriptions.filter { $0.next.step != .never }.map(\.next.at).min() }

    /// Every transaction, the one modified least recently first.
    var history: [WorldTransaction] {
        subscriptions.flatMap(\.all).sorted { $0.modification < $1.modification }
    }

    /// Lives on until a time.
    /// - Returns: what the App Store reports of it, in order.
    mutating func live(until now: Int64) -> [WorldEvent] {
        var events: [WorldEvent] = []
        while let time = nextEvent, time <= now,
            let place = subscriptions.firstIndex(where: { $0.next.step != .never && $0.next.at == time })
        {
            if let event = step(place, at: time) { events.append(event) }
        }
        return events
    }

    /// What the App Store reports, with the state right after it.
    /// - Parameter transaction: the one that it is about; nil for the one that began the present period.
    func event(
        _ type: String, _ subtype: String?, _ place: Int, at time: Int64, about transaction: WorldTransaction? = nil
    ) -> WorldEvent {
        let subscription = subscriptions[place]
        return WorldEvent(
            type: type, subtype: subtype, date: time, customer: number, subscription: subscription,
            transaction: transaction ?? subscription.last, appTransactionID: appTransactionID, account: account,
            ownership: ownership)
    }

    private mutating func step(_ place: Int, at time: Int64) -> WorldEvent? {
        switch subscriptions[place].next.step {
        case .purchase:
            let product = number % 10 == 3 ? Self.committed : chance(70) ? Self.weekly : "com.example.app.pro.monthly"
            let offer = chance(30) ? WorldOffer.trial : nil
            // Apple does not say whether a member's transaction carries the purchaser's offer, so it does here.
            buy(product, place, at: time, offer: isMember ? .promotional : offer)
            return event("SUBSCRIBED", "INITIAL_BUY", place, at: time)
        case .middle: return middle(place, at: time)
        case .end: return end(place, at: time)
        case .graceEnd:
            subscriptions[place].next = (.retryEnd, subscriptions[place].last.expiresDate + clock.days(60))
            if chance(50) { planRecovery(place, after: time) }
            return event("GRACE_PERIOD_EXPIRED", nil, place, at: time)
        case .recovery:
            renew(place, at: time)
            return event("DID_RENEW", "BILLING_RECOVERY", place, at: time)
        case .retryEnd:
            subscriptions[place].isRetrying = false
            return expire(place, intent: 2, "BILLING_RETRY", at: time)
        case .resubscription:
            buy(subscriptions[place].last.productID, place, at: time, offer: chance(40) ? .winBack : nil)
            return event("SUBSCRIBED", "RESUBSCRIBE", place, at: time)
        case .never: return nil
        }
    }

    private mutating func middle(_ place: Int, at time: Int64) -> WorldEvent {
        planEnd(place)
        let isOn = subscriptions[place].autoRenews
        let happening = Int.random(in: 0..<12, using: &random)
        // The product of a commitment stays, and members decide nothing about what is paid.
        let isFixed = subscriptions[place].last.commitment != nil || isMember
        switch isFixed && [3, 4, 5, 7, 10, 11].contains(happening) ? 9 : happening {
        case 0..<3:
            subscriptions[place].autoRenews = !isOn
            return event(
                "DID_CHANGE_RENEWAL_STATUS", isOn ? "AUTO_RENEW_DISABLED" : "AUTO_RENEW_ENABLED", place, at: time)
        case 3..<5:
            upgrade(place, at: time)
            return event("DID_CHANGE_RENEWAL_PREF", "UPGRADE", place, at: time)
        case 5:
            subscriptions[place].nextProductID = "com.example.app.basic.weekly"
            subscriptions[place].autoRenews = true
            return event("DID_CHANGE_RENEWAL_PREF", "DOWNGRADE", place, at: time)
        case 6:
            revoke(place, at: time)
            return event(isMember ? "REVOKE" : "REFUND", nil, place, at: time)
        case 7:
            subscriptions[place].nextOffer = chance(60) ? .promotional : .retention
            subscriptions[place].autoRenews = true
            return event("OFFER_REDEEMED", nil, place, at: time)
        case 8:
            subscriptions[place].priceIncreaseStatus = 0
            return event("PRICE_INCREASE", "PENDING", place, at: time)
        case 10: return addSeats(place, at: time)
        case 11: return giveUpSeats(place, at: time)
        default:
            return event("CONSUMPTION_REQUEST", nil, place, at: time)
        }
    }

    private mutating func end(_ place: Int, at time: Int64) -> WorldEvent {
        guard subscriptions[place].renewsNextPeriod else { return expire(place, intent: 1, "VOLUNTARY", at: time) }
        guard chance(15) else {
            renew(place, at: time)
            return event("DID_RENEW", nil, place, at: time)
        }
        subscriptions[place].isRetrying = true
        let hasGrace = chance(50)
        subscriptions[place].graceEnd = hasGrace ? time + clock.days(6) : nil
        subscriptions[place].next = hasGrace ? (.graceEnd, time + clock.days(6)) : (.retryEnd, time + clock.days(60))
        if chance(50) { planRecovery(place, after: time) }
        return event("DID_FAIL_TO_RENEW", hasGrace ? "GRACE_PERIOD" : nil, place, at: time)
    }

    private mutating func expire(_ place: Int, intent: Int, _ subtype: String, at time: Int64) -> WorldEvent {
        subscriptions[place].expirationIntent = intent
        subscriptions[place].autoRenews = false
        subscriptions[place].next =
            chance(30)
            ? (.resubscription, time + clock.days(Double.random(in: 0.2..<4, using: &random))) : (.never, time)
        return event("EXPIRED", subtype, place, at: time)
    }

    mutating func buy(_ product: String, _ place: Int, at time: Int64, offer: WorldOffer?) {
        add(product, place, at: time, isRenewal: false, offer: offer)
        subscriptions[place].autoRenews = true
    }

    private mutating func renew(_ place: Int, at time: Int64) {
        let subscription = subscriptions[place]
        add(subscription.nextProductID, place, at: time, isRenewal: true, offer: subscription.nextOffer)
    }

    private mutating func upgrade(_ place: Int, at time: Int64) {
        let count = subscriptions[place].transactions.count
        modifications += 1
        subscriptions[place].transactions[count - 1].isUpgraded = true
        subscriptions[place].transactions[count - 1].modification = modifications
        add("com.example.app.max.monthly", place, at: time, isRenewal: false, offer: nil)
        subscriptions[place].autoRenews = true
    }

    private mutating func revoke(_ place: Int, at time: Int64) {
        let count = subscriptions[place].transactions.count
        modifications += 1
        subscriptions[place].transactions[count - 1].revocationDate = time
        subscriptions[place].transactions[count - 1].modification = modifications
        subscriptions[place].autoRenews = false
        subscriptions[place].expirationIntent = 5
        subscriptions[place].next = (.never, time)
    }

    /// Of the newest purchase.
    private var transactionID: String {
        "\((isSandbox ? 2_000_000_000_000_000 : 400_000_000_000_000) + number * 1000 + purchases)"
    }

    /// Begins a period, and plans what happens in it.
    private mutating func add(_ product: String, _ place: Int, at time: Int64, isRenewal: Bool, offer: WorldOffer?) {
        modifications += 1
        purchases += 1
        let expires = time + clock.period(of: product)
        subscriptions[place].transactions.append(
            WorldTransaction(
                id: transactionID, productID: product, purchaseDate: time, expiresDate: expires, isRenewal: isRenewal,
                price: offer?.discountType == "FREE_TRIAL" ? 0 : 9990, offer: offer, appAccountToken: account,
                modification: modifications, commitment: bill(product, place, at: time)))
        subscriptions[place].nextProductID = product
        subscriptions[place].nextOffer = nil
        subscriptions[place].expirationIntent = nil
        subscriptions[place].isRetrying = false
        subscriptions[place].graceEnd = nil
        subscriptions[place].priceIncreaseStatus = nil
        planEnd(place)
        if chance(40) {
            subscriptions[place].next = (.middle, time + Int64.random(in: 1..<clock.days(5), using: &random))
        }
    }

    /// The next bill of a commitment, or the first of a new one; nil for other products.
    private func bill(_ product: String, _ place: Int, at time: Int64) -> WorldCommitment? {
        guard product == Self.committed else { return nil }
        if let last = subscriptions[place].transactions.last?.commitment, !last.isLast, subscriptions[place].isBound {
            return WorldCommitment(bill: last.bill + 1, end: last.end)
        }
        return WorldCommitment(bill: 1, end: time + clock.month * Int64(WorldCommitment.bills))
    }

    /// Adds seats to the present period. The transaction that began it changes too.
    private mutating func addSeats(_ place: Int, at time: Int64) -> WorldEvent {
        let first = subscriptions[place].transactions.count - 1
        modifications += 1
        purchases += 1
        subscriptions[place].transactions[first].hasSeatAddition = true
        subscriptions[place].transactions[first].modification = modifications
        modifications += 1
        let seats = WorldTransaction(
            id: transactionID, productID: subscriptions[place].last.productID, purchaseDate: time,
            expiresDate: subscriptions[place].last.expiresDate, isRenewal: false, price: 9990, offer: nil,
            appAccountToken: account, modification: modifications, seats: Int.random(in: 1...9, using: &random),
            hasSeatAddition: true)
        subscriptions[place].addedSeats.append(seats)
        subscriptions[place].nextSeats = (subscriptions[place].nextSeats ?? 1) + seats.seats
        subscriptions[place].next =
            chance(70)
            ? (.middle, min(time + clock.days(1), subscriptions[place].last.expiresDate)) : (.end, seats.expiresDate)
        return event("DID_CHANGE_RENEWAL_PREF", "INCREASE_QUANTITY", place, at: time, about: seats)
    }

    /// A refund of seats of the present period, or seats that members gave up.
    private mutating func giveUpSeats(_ place: Int, at time: Int64) -> WorldEvent {
        let end = subscriptions[place].last.expiresDate
        let seats = subscriptions[place].addedSeats.lastIndex { $0.expiresDate == end && $0.revocationDate == nil }
        if let next = subscriptions[place].nextSeats, next > 1, chance(25) {
            subscriptions[place].nextSeats = next - 1
            return event("DID_CHANGE_RENEWAL_PREF", "DECREASE_QUANTITY", place, at: time)
        }
        guard let seats, chance(60) else {
            var given = event("UNCLAIM_SEATS", nil, place, at: time)
            given.unclaimedSeats = (0..<2).map { _ in Self.uuid(random.next(), random.next()) }
            return given
        }
        modifications += 1
        let left = subscriptions[place].addedSeats[seats].seats - subscriptions[place].addedSeats[seats].revokedSeats
        if left > 1, chance(75) {
            // A refund of some seats does not revoke their transaction.
            subscriptions[place].addedSeats[seats].revokedSeats += Int.random(in: 1..<left, using: &random)
        } else {
            subscriptions[place].addedSeats[seats].revocationDate = time
        }
        subscriptions[place].addedSeats[seats].modification = modifications
        return event("REFUND", "SEATS", place, at: time, about: subscriptions[place].addedSeats[seats])
    }

    private mutating func planEnd(_ place: Int) {
        subscriptions[place].next = (.end, subscriptions[place].last.expiresDate)
    }

    private mutating func planRecovery(_ place: Int, after time: Int64) {
        subscriptions[place].next = (.recovery, time + clock.days(Double.random(in: 0.1..<3, using: &random)))
    }

    private mutating func chance(_ percent: Int) -> Bool {
        !isDirected && Int.random(in: 0..<100, using: &random) < percent
    }

    /// A UUID of version 4 (RFC 9562), in lower case.
    static func uuid(_ high: UInt64, _ low: UInt64) -> String {
        let (first, last) = (hex(high & 0xFFFF_FFFF_FFFF_0FFF | 0x4000), hex(low & 0x3FFF_FFFF_FFFF_FFFF | 1 << 63))
        return
            "\(first.prefix(8))-\(first.dropFirst(8).prefix(4))-\(first.suffix(4))-\(last.prefix(4))-\(last.dropFirst(4))"
    }

    private static func hex(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

/// Something that the App Store reports.
struct WorldEvent: Sendable {
    let type: String
    let subtype: String?
    /// In milliseconds.
    let date: Int64
    let customer: Int
    /// The state right after it.
    let subscription: WorldSubscription
    let transaction: WorldTransaction
    let appTransactionID: String
    let account: String?
    /// Apple's `inAppOwnershipType`.
    var ownership = "PURCHASED"
    /// The IDs of seats that members gave up. If there are any, the event has no transaction.
    var unclaimedSeats: [String] = []
}
