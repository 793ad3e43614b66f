@testable import AppStoreTestSupport

/// What receivers must get, worked out from what the App Store and the decisions say, without the service's own search.
struct EventReference {
    struct Event: Hashable {
        let type: String
        /// In milliseconds.
        let at: Int64
        var productID: String?
        var offerID: String?
        var reason: String?
        var rule: String?
        var placement: String?

        /// True for a redemption of an offer, or what follows from it.
        func isRedemption(of offer: Offer) -> Bool {
            ["redeemed", "alarm"].contains(type) && productID == offer.productID && offerID == offer.offerID
        }
    }

    struct Offer: Hashable {
        let productID: String
        let offerID: String
    }

    private struct Signature {
        let offer: Offer
        let rule: String?
        let at: Int64
        let end: Int64
        var isUsed = false
    }

    private struct Customer {
        /// The last known state of each subscription, by the original transaction ID.
        var subscriptions: [String: WorldSubscription] = [:]
        var ownership = ""
        /// What has happened since the last look, or will be an event later.
        var news: [Event] = []
        var signatures: [Signature] = []
        /// The rules of the redemptions; nil without a signature, or for a rule without a name.
        var redemptions: [(offer: Offer, at: Int64, rule: String?)] = []
        /// Where the customer first had each offer.
        var placements: [Offer: String?] = [:]
        /// The offers that the customer may have, with the names of their rules.
        var eligible: [Offer: String?] = [:]
        /// Texts of what is an event only once.
        var known: Set<String> = []
        /// The events of each look.
        var looks: [[Event]] = []
    }

    /// When events begin, in milliseconds.
    private let start: Int64
    private var customers: [Int: Customer] = [:]
    /// What may be an event or not: the App Store does not tell a second use of a running offer from the first.
    private var optional: [Int: [(offer: Offer, at: Int64)]] = [:]

    /// How long a signature can be used, in milliseconds.
    private static let lifetime: Int64 = 86_400_000
    /// For how long a signature may be withdrawn, in milliseconds. Nothing is looked at before that, so that it is told first.
    private static let signingTime: Int64 = 10_000

    init(since start: Int64) { self.start = start }

    // MARK: What happens

    mutating func take(_ event: WorldEvent) {
        let (original, number) = (event.subscription.originalID, event.customer)
        let before = customers[number]?.subscriptions[original]
        customers[number, default: Customer()].subscriptions[original] = event.subscription
        customers[number]?.ownership = event.ownership
        func note(_ type: String) {
            customers[number]?.news.append(
                Event(type: type, at: event.date, productID: event.subscription.last.productID))
        }
        if event.type == "DID_FAIL_TO_RENEW" { note("payment_failed") }
        if event.type == "DID_RENEW", event.subtype == "BILLING_RECOVERY" { note("payment_recovered") }
        // The offer of a share or a seat is its purchaser's.
        guard event.ownership == "PURCHASED" else { return }
        if event.type == "OFFER_REDEEMED", let offer = event.subscription.nextOffer {
            redeem(offer, event.subscription.nextProductID, by: number, at: event.date, during: event.subscription.last)
        }
        if event.type == "SUBSCRIBED", let offer = event.transaction.offer, before?.last.id != event.transaction.id {
            redeem(offer, event.transaction.productID, by: number, at: event.date, during: nil)
        }
    }

    private mutating func redeem(
        _ offer: WorldOffer, _ productID: String, by number: Int, at time: Int64, during period: WorldTransaction?
    ) {
        guard offer.type == 2, let offerID = offer.identifier else { return }
        let redeemed = Offer(productID: productID, offerID: offerID)
        if period?.offer == offer, period?.productID == productID {
            return optional[number, default: []].append((redeemed, time))
        }
        func note(_ type: String, rule: String? = nil) {
            customers[number]?.news.append(
                Event(type: type, at: time, productID: productID, offerID: offerID, rule: rule))
        }
        let signatures = customers[number]?.signatures ?? []
        let valid = signatures.indices.filter {
            signatures[$0].offer == redeemed && !signatures[$0].isUsed && signatures[$0].at <= time
                && time <= signatures[$0].end
        }
        let oldest = valid.min { signatures[$0].at < signatures[$1].at }
        let rule = oldest.flatMap { signatures[$0].rule }
        note("redeemed", rule: rule)
        customers[number]?.redemptions.append((redeemed, time, rule))
        if let oldest { customers[number]?.signatures[oldest].isUsed = true } else { note("alarm") }
    }

    mutating func sign(_ offer: Offer, by rule: String?, in placement: String?, for number: Int, at time: Int64) {
        let signature = Signature(offer: offer, rule: rule, at: time, end: time + Self.lifetime)
        var customer = customers[number] ?? Customer()
        customer.signatures.append(signature)
        if customer.placements[offer] == nil { customer.placements.updateValue(placement, forKey: offer) }
        customers[number] = customer
    }

    mutating func grant(_ offer: Offer, to number: Int, at time: Int64) {
        customers[number]?.news.append(
            Event(type: "grant_opened", at: time, productID: offer.productID, offerID: offer.offerID, rule: "grant"))
    }

    mutating func show(_ offer: Offer, to number: Int, at time: Int64) {
        customers[number]?.news.append(
            Event(type: "shown", at: time, productID: offer.productID, offerID: offer.offerID))
    }

    // MARK: Looks

    /// Ends a step.
    /// - Parameter eligible: the offers that each customer may have, as a decision says, with the names of their rules.
    mutating func look(at now: Int64, eligible: [Int: [Offer: String?]]) {
        for number in customers.keys {
            guard var customer = customers[number], !customer.subscriptions.isEmpty, !isWaiting(customer, at: now)
            else { continue }
            var events = customer.news
            customer.news = []
            for event in ends(customer, at: now) + renewals(customer) + signatures(customer, at: now)
            where customer.known.insert(event.identity).inserted { events.append(event.event) }
            let (before, after) = (customer.eligible, eligible[number] ?? [:])
            func changed(_ type: String, _ offer: Offer, by rule: String?) -> Event {
                Event(type: type, at: now, productID: offer.productID, offerID: offer.offerID, rule: rule)
            }
            events += after.filter { before[$0.key] == nil }.map { changed("became_eligible", $0, by: $1) }
            events += before.filter { after[$0.key] == nil }.map { changed("no_longer_eligible", $0, by: $1) }
            customer.eligible = after
            events = events.map { event in
                guard let offerID = event.offerID, let productID = event.productID, event.type != "renewed_after_offer"
                else { return event }
                var event = event
                event.placement = customer.placements[Offer(productID: productID, offerID: offerID)] ?? nil
                return event
            }
            customer.looks.append(events.filter { $0.at >= start }.sorted { $0.at < $1.at })
            customers[number] = customer
        }
    }

    private typealias Once = (identity: String, event: Event)

    private func ends(_ customer: Customer, at now: Int64) -> [Once] {
        customer.subscriptions.values.compactMap { subscription in
            guard let (end, reason) = end(of: subscription, customer.ownership, at: now) else { return nil }
            let event = Event(type: "lost", at: end, productID: subscription.last.productID, reason: reason)
            return ("lost \(subscription.originalID) \(subscription.last.purchaseDate)", event)
        }
    }

    /// When access ended, and why; nil if it has not.
    private func end(
        of subscription: WorldSubscription, _ ownership: String, at now: Int64
    ) -> (Int64, String?)? {
        let period = subscription.last
        if let date = period.revocationDate {
            return (min(date, period.expiresDate), ownership == "PURCHASED" ? "refunded" : "other")
        }
        guard now >= period.expiresDate else { return nil }
        let paidUntil = max(period.expiresDate, subscription.graceEnd ?? 0)
        switch subscription.expirationIntent {
        case 1?: return (period.expiresDate, "cancelled")
        case 2?: return (paidUntil, "billing")
        default: return subscription.isRetrying && now >= paidUntil ? (paidUntil, nil) : nil
        }
    }

    /// The first periods at the regular price after offers.
    private func renewals(_ customer: Customer) -> [Once] {
        customer.subscriptions.values.filter { _ in customer.ownership == "PURCHASED" }.flatMap { subscription in
            let periods = subscription.transactions
            return periods.indices.compactMap { place -> Once? in
                guard periods[place].offer?.type == 2,
                    let next = periods[(place + 1)...].first(where: { $0.offer == nil || $0.offer?.type == 2 }),
                    next.offer == nil, next.revocationDate == nil
                else { return nil }
                let offer = Offer(
                    productID: periods[place].productID, offerID: periods[place].offer?.identifier ?? "")
                let redemption = customer.redemptions.last {
                    $0.offer == offer && $0.at <= periods[place].purchaseDate
                }
                let event = Event(
                    type: "renewed_after_offer", at: next.purchaseDate, productID: next.productID,
                    offerID: offer.offerID, rule: redemption?.rule, placement: customer.placements[offer] ?? nil)
                return ("renewed \(next.id)", event)
            }
        }
    }

    private func isWaiting(_ customer: Customer, at now: Int64) -> Bool {
        groups(customer).contains { group in !group.contains(where: \.isUsed) && now < group[0].at + Self.signingTime }
    }

    /// Signatures that overlap are one.
    private func groups(_ customer: Customer) -> [[Signature]] {
        Dictionary(grouping: customer.signatures, by: \.offer).values.flatMap { signatures -> [[Signature]] in
            var groups: [[Signature]] = []
            for signature in signatures {
                if let last = groups.last?.last, signature.at < last.end {
                    groups[groups.count - 1].append(signature)
                } else {
                    groups.append([signature])
                }
            }
            return groups
        }
    }

    private func signatures(_ customer: Customer, at now: Int64) -> [Once] {
        groups(customer).flatMap { group -> [Once] in
            let offer = group[0].offer
            func event(_ type: String, _ time: Int64) -> Once {
                let event = Event(
                    type: type, at: time, productID: offer.productID, offerID: offer.offerID, rule: group[0].rule)
                return ("\(type) \(offer) \(group[0].at)", event)
            }
            var events = [event("signed", group[0].at)]
            if let end = group.last?.end, end <= now, !group.contains(where: \.isUsed) {
                events.append(event("expired_unused", end))
            }
            return events
        }
    }

    // MARK: What is expected

    /// Each customer's events in the order of the looks, by the first subscription.
    var expected: [String: [Event]] { byFirstSubscription { $1.looks.flatMap(\.self) } }

    /// The customers' numbers, by the first subscription.
    var numbers: [String: Int] { byFirstSubscription { number, _ in number } }

    /// Returns true if a customer may get an event or not.
    func isOptional(_ event: Event, of original: String) -> Bool {
        (numbers[original].flatMap { optional[$0] } ?? []).contains { offer, time in
            event.isRedemption(of: offer) && event.at == time
        }
    }

    private func byFirstSubscription<Value>(_ value: (Int, Customer) -> Value) -> [String: Value] {
        // The numbers of subscriptions have the same length, and increase with time.
        let all = customers.compactMap { number, customer in
            customer.subscriptions.keys.min().map { ($0, value(number, customer)) }
        }
        return Dictionary(uniqueKeysWithValues: all)
    }
}
