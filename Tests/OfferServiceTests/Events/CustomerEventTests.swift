import Foundation
import NIOConcurrencyHelpers
import OfferCore
import OfferEligibility
import OfferHTTP
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@testable import OfferService
@testable import SubscriberSync

/// Events that are found by reviews of stored customers. The receiver's part is in `ForwardingTests`.
@Suite("Events of customers")
struct CustomerEventTests {
    private static let receiver = "http://127.0.0.1:9/events"
    private static let offers = """
        {offerID: stay, rule: {subscription: {autoRenew: off}}, limits: {perCustomer: 1}}, \
        {offerID: back, rule: {subscription: {status: expired, endedAgo: {atLeast: 3d, atMost: 9d}}}}
        """

    struct Received: Hashable {
        let type: String
        let day: Double
        let offerID: String?
        let id: String
        let customer: String?
        let token: String?
        let rule: String?
        let placement: String?
    }

    static func makeService(_ offers: String = Self.offers, _ app: String = "") throws -> StoreService {
        try StoreService(
            offers,
            app: """
                appAppleID: 1234567890
                    events: {to: ["\(receiver)"]\(app)}
                    grants: {reasons: [goodwill]}
                """)
    }

    /// Makes all due reviews, as `EventWorker` does, and accepts what they find.
    /// - Returns: the events, in the order of their arrival.
    @discardableResult
    static func round(_ service: StoreService, day: Double) async throws -> [Received] {
        try await find(service, day: day)
        return try await deliver(service, day: day)
    }

    /// Makes all due reviews.
    static func find(_ service: StoreService, day: Double) async throws {
        service.setDay(day)
        let now = Sample.day(day)
        let app = try #require(service.catalogue.apps[Sample.bundleID])
        try await service.store.beginReviews(of: Sample.production, by: "rules", at: now)
        while try await service.store.enrolCustomers(of: Sample.production, limit: 7) {}
        let reviewer = CustomerReviewer(service.store, of: Sample.production, app)
        while true {
            let due = try await service.store.dueReviews(of: Sample.production, by: now, limit: 3)
            if due.isEmpty { break }
            for review in due { _ = try await reviewer.review(review, at: now) }
        }
    }

    static func deliver(_ service: StoreService, day: Double) async throws -> [Received] {
        var received: [Received] = []
        while true {
            let forwards = try await service.store.claimForwards(
                to: receiver, dueAt: Sample.day(day), leaseEnd: Sample.day(day) + .seconds(60), limit: 100)
            if forwards.isEmpty { return received }
            for forward in forwards {
                let json = try #require(try JSONSerialization.jsonObject(with: Data(forward.body)) as? [String: Any])
                let at = try #require(json["at"] as? Int64)
                let customer = json["customer"] as? [String: Any]
                received.append(
                    Received(
                        type: try #require(json["type"] as? String),
                        day: Double(at - Sample.day(0).milliseconds) / 86_400_000, offerID: json["offerID"] as? String,
                        id: try #require(json["id"] as? String),
                        customer: customer?["originalTransactionID"] as? String,
                        token: customer?["appAccountToken"] as? String, rule: json["rule"] as? String,
                        placement: json["placement"] as? String))
                #expect(json["id"] as? String == forward.contentID)
                try await service.store.settle(forward.id, .delivered)
            }
        }
    }

    static func setAutoRenew(_ isOn: Bool, _ service: StoreService, day: Double, of number: UInt64 = 1)
        async throws
    {
        let renewal = Sample.renewal(of: "\(1000 + number)", signed: day) { renewal in
            renewal = Renewal(productID: renewal.productID, autoRenewStatus: isOn ? .on : .off)
            renewal.appAccountToken = Sample.token(number)
        }
        try await service.store.merge([renewal], in: Sample.production)
    }

    @Test(
        "a switch of auto-renew makes a customer eligible, and a signature and a redemption follow, each once and in order"
    )
    func story() async throws {
        let service = try Self.makeService()
        #expect(try await Self.round(service, day: 1).isEmpty)
        try await service.addSubscriber("1001", account: 1, autoRenew: true)
        #expect(try await Self.round(service, day: 10).isEmpty)
        try await Self.setAutoRenew(false, service, day: 10.1)
        let eligible = try await Self.round(service, day: 10.2)
        #expect(eligible.map(\.type) == ["became_eligible"] && eligible.first?.offerID == "stay")
        #expect(eligible.first?.customer == "1001")
        #expect(try await Self.round(service, day: 10.3).isEmpty)
        service.setDay(10.4)
        #expect(try await service.decide(StoreService.token(1)).signed == ["stay"])
        let redeemed = Sample.transaction("1002", of: "1001", 10.5, 40) { purchase in
            purchase.appAccountToken = Sample.token(1)
            purchase.offer = AppliedOffer(type: .promotional, identifier: "stay", discountType: .payAsYouGo)
        }
        try await service.store.merge([redeemed], in: Sample.production)
        let after = try await Self.round(service, day: 10.6)
        #expect(after.map(\.type) == ["signed", "redeemed", "no_longer_eligible"], "\(after)")
        let renewed = Sample.transaction("1003", of: "1001", 40, 70) { $0.appAccountToken = Sample.token(1) }
        try await service.store.merge([renewed], in: Sample.production)
        #expect(try await Self.round(service, day: 40.1).map(\.type) == ["renewed_after_offer"])
        // Facts that arrive again, and time, change nothing.
        try await service.store.merge([redeemed, renewed], in: Sample.production)
        #expect(try await Self.round(service, day: 41).isEmpty)
    }

    @Test("time alone makes a customer eligible and ends it, at the first review after the time, once")
    func time() async throws {
        let service = try Self.makeService()
        try await Self.round(service, day: 1)
        let purchase = Sample.transaction("1001", of: "1001", 2, 12) { $0.appAccountToken = Sample.token(1) }
        let ended = Sample.renewal(of: "1001", signed: 12.01) { renewal in
            renewal = Renewal(productID: renewal.productID, autoRenewStatus: .off)
            renewal.expirationIntent = .cancelled
            renewal.appAccountToken = Sample.token(1)
        }
        try await service.store.merge([purchase, ended], in: Sample.production)
        #expect(try await Self.round(service, day: 12.1).map(\.type).contains("lost"))
        var found: [Received] = []
        // A minute between the rounds around each end, so that an event cannot be late or early without being seen.
        for minute in [-2.0, -1, 1, 2] { found += try await Self.round(service, day: 15 + minute / 1440) }
        #expect(found.map(\.type) == ["became_eligible"] && found.first?.offerID == "back", "\(found)")
        #expect(found.first.map { abs($0.day - 15) < 1.5 / 1440 && $0.day > 15 } == true)
        found = []
        for minute in [-2.0, -1, 1, 2] { found += try await Self.round(service, day: 21 + minute / 1440) }
        #expect(found.map(\.type) == ["no_longer_eligible"], "\(found)")
    }

    @Test("customers who were there before are not announced, but what happens to them later is")
    func baseline() async throws {
        let service = try Self.makeService()
        for number in 1...20 as ClosedRange<UInt64> {
            try await service.addSubscriber("\(1000 + number)", account: number, autoRenew: false)
        }
        #expect(try await Self.round(service, day: 10).isEmpty)
        try await Self.setAutoRenew(true, service, day: 11, of: 3)
        let lost = try await Self.round(service, day: 11.1)
        #expect(lost.map(\.type) == ["no_longer_eligible"] && lost.first?.customer == "1003")
        // A new customer is announced at the first review.
        try await service.addSubscriber("1021", account: 21, autoRenew: false)
        let new = try await Self.round(service, day: 11.2)
        #expect(new.map(\.type) == ["became_eligible"] && new.first?.customer == "1021")
    }

    @Test(
        "a review is not recorded if the records change meanwhile, but made again"
    )
    func repeated() async throws {
        let service = try Self.makeService()
        try await Self.round(service, day: 1)
        try await service.addSubscriber("1001", account: 1, autoRenew: true)
        try await Self.setAutoRenew(false, service, day: 10)
        let app = try #require(service.catalogue.apps[Sample.bundleID])
        let reviewer = CustomerReviewer(service.store, of: Sample.production, app)
        let now = Sample.day(10.1)
        let due = try #require(try await service.store.dueReviews(of: Sample.production, by: now, limit: 9).first)
        // The records change before the review is recorded.
        try await Self.setAutoRenew(true, service, day: 10.05)
        #expect(try await reviewer.review(due, at: now) == nil)
        #expect(try await Self.deliver(service, day: 10.1).isEmpty)
        #expect(try await Self.round(service, day: 10.2).isEmpty)
    }

    @Test("an erasure takes the events with it that are not delivered, and the state of the reviews")
    func erased() async throws {
        let service = try Self.makeService()
        try await Self.round(service, day: 1)
        try await service.addSubscriber("1001", account: 1, autoRenew: false)
        let app = try #require(service.catalogue.apps[Sample.bundleID])
        let now = Sample.day(10)
        for review in try await service.store.dueReviews(of: Sample.production, by: now, limit: 9) {
            _ = try await CustomerReviewer(service.store, of: Sample.production, app).review(review, at: now)
        }
        #expect(try await service.store.receivers().map(\.pending) == [1])
        _ = try await service.store.erase(Sample.account(1), in: Sample.production)
        #expect(try await service.store.receivers().map(\.pending) == [0])
        #expect(try await Self.round(service, day: 10.1).isEmpty)
    }

    @Test("two persons with one Apple Account get their own events, and a person's two subscriptions one event")
    func persons() async throws {
        let service = try Self.makeService()
        try await Self.round(service, day: 1)
        for number in [1, 2] as [UInt64] {
            try await service.addSubscriber("\(1000 + number)", account: number, autoRenew: false) {
                $0.appTransactionID = Sample.id("7001")
            }
        }
        try await service.addSubscriber("1003", account: 2, autoRenew: false) {
            $0.appTransactionID = Sample.id("7001")
            $0.subscriptionGroupID = "2"
        }
        let found = try await Self.round(service, day: 10)
        #expect(found.map(\.type) == ["became_eligible", "became_eligible"])
        #expect(Set(found.compactMap(\.customer)) == ["1001", "1002"])
        // What the first person does is no event of the second one, though the limits count it for both.
        service.setDay(10.1)
        #expect(try await service.decide(StoreService.token(1)).signed == ["stay"])
        let redeemed = Sample.transaction("2001", of: "1001", 10.2, 40) { purchase in
            purchase.appAccountToken = Sample.token(1)
            purchase.appTransactionID = Sample.id("7001")
            purchase.offer = AppliedOffer(type: .promotional, identifier: "stay", discountType: .payAsYouGo)
        }
        try await service.store.merge([redeemed], in: Sample.production)
        let after = try await Self.round(service, day: 10.3) + Self.round(service, day: 12.5)
        #expect(
            Set(after.filter { $0.customer == "1001" }.map(\.type)) == ["signed", "redeemed", "no_longer_eligible"])
        #expect(after.filter { $0.customer == "1002" }.map(\.type) == ["no_longer_eligible"], "\(after)")
    }

    @Test("an older purchase that turns up for an account repeats none of its events")
    func olderPurchase() async throws {
        let service = try Self.makeService()
        #expect(try await Self.round(service, day: 1).isEmpty)
        // Another account's subscription, which a purchase of account 1 joins later.
        try await service.addSubscriber("1000", account: 2, autoRenew: true)
        try await service.addSubscriber("1001", account: 1, autoRenew: true)
        try await Self.setAutoRenew(false, service, day: 10.1)
        #expect(try await Self.round(service, day: 10.2).map(\.type) == ["became_eligible"])
        service.setDay(10.3)
        #expect(try await service.decide(StoreService.token(1)).signed == ["stay"])
        #expect(try await Self.round(service, day: 10.4).map(\.type) == ["signed", "no_longer_eligible"])
        let older = Sample.transaction("900", of: "900", -40, -10) { $0.appAccountToken = Sample.token(1) }
        let joined = Sample.transaction("1002", of: "1000", 10.4, 30) { $0.appAccountToken = Sample.token(1) }
        for (day, fact) in [(10.5, joined), (10.7, older)] {
            try await service.store.merge([fact], in: Sample.production)
            let events = try await Self.round(service, day: day) + (try await Self.round(service, day: day + 0.1))
            #expect(!events.contains { $0.type == "signed" || $0.type == "no_longer_eligible" }, "\(day) \(events)")
            #expect(!events.contains { $0.type == "became_eligible" && $0.token == Sample.token(1).description })
        }
        try await Self.setAutoRenew(true, service, day: 10.9)
        #expect(try await Self.round(service, day: 11).isEmpty)
    }

    @Test(
        "an older purchase that turns up with another change repeats no event, and waiting events stay in order",
        arguments: [false, true])
    func olderPurchaseAtOnce(isShared: Bool) async throws {
        let service = try StoreService(
            Self.offers,
            app: """
                appAppleID: 1234567890
                    events: {to: ["\(Self.receiver)"]}
                    ownership: \(isShared ? "share" : "first")
                """)
        try await Self.round(service, day: 1)
        try await service.addSubscriber("1001", account: 1, autoRenew: true)
        // Another customer who stays behind.
        if isShared {
            let shared = Sample.transaction("1002", of: "1001", 0, 30, signed: 2) {
                $0.appAccountToken = Sample.token(2)
            }
            try await service.store.merge([shared], in: Sample.production)
        }
        #expect(try await Self.round(service, day: 10).isEmpty)
        try await Self.setAutoRenew(false, service, day: 10.1)
        let eligible = try await Self.round(service, day: 10.2)
        #expect(Set(eligible.map(\.type)) == ["became_eligible"] && eligible.count == (isShared ? 2 : 1))
        service.setDay(10.3)
        #expect(try await service.decide(StoreService.token(1)).signed == ["stay"])
        // The receiver does not take these.
        try await Self.find(service, day: 10.4)
        let older = Sample.transaction("900", of: "900", -40, -10) { $0.appAccountToken = Sample.token(1) }
        let changed = Sample.renewal(of: "1001", signed: 10.5) { renewal in
            renewal = Renewal(productID: renewal.productID, autoRenewStatus: .on)
            renewal.appAccountToken = Sample.token(1)
        }
        try await service.store.merge([older, changed], in: Sample.production)
        try await Self.find(service, day: 10.5)
        try await Self.find(service, day: 10.6)
        let events = try await Self.deliver(service, day: 10.7).filter { $0.token == Sample.token(1).description }
        #expect(events.map(\.type) == ["signed", "no_longer_eligible"], "\(events)")
        #expect(try await Self.round(service, day: 10.8).isEmpty)
    }

    @Test("an offer that the App Store shows to a customer who is about to cancel is signed and shown")
    func shownByAppStore() async throws {
        let service = try StoreService.retention(
            app: "appAppleID: 1234567890\n    events: {to: [\"\(Self.receiver)\"]}")
        try await Self.round(service, day: 1)
        try await service.addSubscriber(autoRenew: false)
        try await Self.round(service, day: 10)
        service.setDay(10.1)
        let answer = try await service.message(Retention.Request(at: Sample.day(10.1)))
        #expect(answer.offerClaims != nil, "\(answer.text)")
        // The record follows the answer.
        var events: [Received] = []
        try await waitUntil {
            events += try await Self.round(service, day: 10.2)
            return events.contains { $0.type == "shown" }
        }
        #expect(events.map(\.type) == ["signed", "shown"] && events.allSatisfy { $0.offerID == "keep" }, "\(events)")
        #expect(events.map(\.rule) == ["retention", nil])
    }

    @Test("a personal link opens its offer when the customer opens it, however old the mailing is")
    func opened() async throws {
        let service = try Self.makeService()
        try await Self.round(service, day: 50)
        try await service.addSubscriber("1001", account: 1, autoRenew: true)
        try await Self.round(service, day: 51)
        let offer = Campaign.Offer(
            productID: try ProductID(utf8: Array("monthly".utf8)), offerID: try OfferID(utf8: Array("stay".utf8)))
        let mailing = Mailing(
            campaign: "spring", offer: offer, holdOut: 0, madeAt: Sample.day(52), expiresAt: Sample.day(200),
            rulesDigest: Array(repeating: 7, count: 32))
        let customer = CustomerIdentifier.originalTransactionID(Sample.id("1001"))
        let links = try await service.store.make(mailing, for: [customer], in: Sample.production)
        #expect(try await Self.round(service, day: 53).filter { $0.type == "grant_opened" } == [])
        _ = try await service.store.claim(try #require(links.first), in: Sample.production, at: Sample.day(90))
        let found = try await Self.round(service, day: 91).filter { $0.type == "grant_opened" }
        #expect(found.map(\.day) == [90] && found.first?.offerID == "stay", "\(found)")
    }

    private static func redemption(
        of number: Int, signed day: Double, _ ownership: OwnershipType = .purchased
    ) -> SubscriberFact {
        Sample.transaction("\(20_000 + number)", of: "\(10_000 + number)", 10.5, 40, signed: day) { purchase in
            purchase.ownership = ownership
            purchase.offer = AppliedOffer(type: .promotional, identifier: "stay", discountType: .payAsYouGo)
        }
    }

    @Test("behind more than a thousand alarms, the next one is an event too")
    func manyAlarms() async throws {
        let service = try Self.makeService()
        let coverage = LedgerCoverage(apps: [Sample.production])
        try await service.store.beginLedger(coverage, at: Sample.day(0))
        try await service.store.merge((1...1001).map { Self.redemption(of: $0, signed: 10.5) }, in: Sample.production)
        let now = Sample.day(10.6)
        try await service.store.beginReviews(of: Sample.production, by: "rules", at: Sample.day(10))
        try await service.store.merge([Self.redemption(of: 1002, signed: 10.5)], in: Sample.production)
        let app = try #require(service.catalogue.apps[Sample.bundleID])
        let due = try #require(try await service.store.dueReviews(of: Sample.production, by: now, limit: 9).first)
        _ = try await CustomerReviewer(service.store, of: Sample.production, app).review(due, at: now)
        #expect(try await Self.deliver(service, day: 10.6).map(\.type).contains("alarm"))
    }

    @Test("a redemption that the ledger forgets and records anew is one event")
    func recordedAnew() async throws {
        let service = try Self.makeService()
        try await Self.round(service, day: 1)
        try await service.store.merge([Self.redemption(of: 1, signed: 10.5)], in: Sample.production)
        #expect(try await Self.round(service, day: 11).map(\.type).contains("redeemed"))
        // Meanwhile, it seems to be somebody else's, and another redemption takes its number.
        try await service.store.merge([Self.redemption(of: 1, signed: 11.1, .familyShared)], in: Sample.production)
        #expect(try await service.store.redemptions(after: 0, limit: 9).isEmpty)
        try await service.store.merge([Self.redemption(of: 2, signed: 11.1)], in: Sample.production)
        try await service.store.merge([Self.redemption(of: 1, signed: 11.2)], in: Sample.production)
        #expect(try await service.store.redemptions(after: 0, limit: 9).count == 2)
        let found = try await Self.round(service, day: 12).filter { $0.type == "redeemed" }
        #expect(found.map(\.customer) == ["10002"], "\(found)")
    }

    @Test("in a database that was imported, nobody is announced again, and what happens from then on is an event")
    func imported() async throws {
        let before = try Self.makeService()
        try await Self.round(before, day: 1)
        try await before.addSubscriber("1001", account: 1, autoRenew: false)
        #expect(try await Self.round(before, day: 10).map(\.type) == ["became_eligible"])
        let records = NIOLockedValueBox<[StoreRecord]>([])
        try await before.store.forEachRecord { record throws(StoreError) in
            records.withLockedValue { $0.append(record) }
        }
        let service = try Self.makeService()
        try await service.store.add(records.withLockedValue { $0 })
        #expect(try await Self.round(service, day: 11).isEmpty)
        try await Self.setAutoRenew(true, service, day: 12)
        #expect(try await Self.round(service, day: 12.1).map(\.type) == ["no_longer_eligible"])
    }

    @Test("only the wanted kinds are sent, and one that is wanted later begins then")
    func kinds() async throws {
        let service = try Self.makeService(Self.offers, ", kinds: [signed]")
        try await Self.round(service, day: 1)
        try await service.addSubscriber("1001", account: 1, autoRenew: false)
        #expect(try await Self.round(service, day: 10).isEmpty)
        _ = try await service.decide(StoreService.token(1))
        #expect(try await Self.round(service, day: 10.1).map(\.type) == ["signed"])
        // Unused for its lifetime.
        #expect(try await Self.round(service, day: 13).isEmpty)
    }

    @Test("a list since a time names those who became eligible since then, and needs events")
    func since() async throws {
        let service = try Self.makeService()
        try await service.addSubscriber("1001", account: 1, autoRenew: false)
        try await Self.round(service, day: 9)
        for number in 2...3 as ClosedRange<UInt64> {
            try await service.addSubscriber("\(1000 + number)", account: number, autoRenew: false)
            try await Self.round(service, day: 8 + Double(number))
        }
        func names(_ members: String) async -> [String] {
            let answer = await service.post("/v1/customers/list", #""offerID":"stay"\#(members)"#)
            let customers = answer.json["customers"] as? [[String: Any]] ?? []
            return customers.compactMap { $0["originalTransactionID"] as? String }
        }
        let (day10, day11) = (Sample.day(10).iso8601, Sample.day(11).iso8601)
        #expect(await names("") == ["1001", "1002", "1003"])
        #expect(await names(#","since":"\#(String(decoding: day10, as: UTF8.self))""#) == ["1002", "1003"])
        #expect(await names(#","since":"\#(String(decoding: day11, as: UTF8.self))""#) == ["1003"])
        let wrong = await service.post("/v1/customers/list", #""offerID":"stay","since":"yesterday""#)
        #expect(wrong.status == 400 && wrong.json["field"] as? String == "since")
        let without = try StoreService(Self.offers)
        let refused = await without.post("/v1/customers/list", #""offerID":"stay","since":"2026-11-20""#)
        #expect(refused.status == 400 && refused.json["field"] as? String == "since", "\(refused.text)")
    }

    @Test("a list since a time also names those whose first purchase was no subscription")
    func sinceWithOther() async throws {
        let service = try Self.makeService()
        try await Self.round(service, day: 9)
        let lifetime = Sample.transaction("900", of: "900", 2) { purchase in
            purchase.type = .nonConsumable
            purchase.expiresDate = nil
            purchase.subscriptionGroupID = nil
            purchase.appAccountToken = Sample.token(1)
        }
        try await service.store.merge([lifetime], in: Sample.production)
        try await service.addSubscriber("1001", account: 1, autoRenew: false)
        #expect(try await Self.round(service, day: 10).map(\.type) == ["became_eligible"])
        for since in ["", #","since":"\#(String(decoding: Sample.day(10).iso8601, as: UTF8.self))""#] {
            let answer = await service.post("/v1/customers/list", #""offerID":"stay"\#(since)"#)
            let customers = answer.json["customers"] as? [[String: Any]] ?? []
            #expect(customers.compactMap { $0["originalTransactionID"] as? String } == ["1001"], "\(answer.text)")
        }
    }

    @Test("for random customers over weeks, each change of what a decision says is an event, and nothing else is")
    func decisions() async throws {
        let offers =
            Self.offers + """
                , {offerID: soon, rule: {subscription: {status: active, endsIn: {atMost: 5d}}}}, \
                {offerID: fact, rule: {fact: {name: trialEnds, within: 4d}}}, \
                {offerID: again, rule: {subscription: {status: active}}, limits: {cooldown: 6d}}
                """
        let service = try Self.makeService(offers)
        let app = try #require(service.catalogue.apps[Sample.bundleID])
        var random = SplitMix64(seed: 49)
        let customers = 1...24 as ClosedRange<UInt64>
        try await Self.round(service, day: 0)
        var expected: [UInt64: Set<String>] = [:]
        var known: [UInt64: Set<String>] = [:]
        var changes = 0
        for step in 1...160 {
            let day = Double(step) / 4
            service.setDay(day)
            for number in customers where Int.random(in: 0..<24, using: &random) == 0 {
                try await Self.change(number, service, day: day, &random)
            }
            for event in try await Self.round(service, day: day) {
                let number = try #require(event.customer.flatMap(UInt64.init)) - 1000
                let offer = event.offerID ?? ""
                if event.type == "became_eligible" { #expect(known[number, default: []].insert(offer).inserted) }
                if event.type == "no_longer_eligible" { #expect(known[number, default: []].remove(offer) != nil) }
                changes += 1
            }
            for number in customers {
                let decision = try await CustomerDecision(
                    about: .originalTransactionID(Sample.id("\(1000 + number)")), of: app, Sample.bundleID,
                    in: nil, productIDs: nil, store: service.current, at: Sample.day(day), log: RecordedLog().logger)
                expected[number] = Set(
                    decision.verdicts.filter(\.reasons.isEmpty).map { $0.offer.offerID.text.description })
                #expect(known[number, default: []] == expected[number], "customer \(number) on day \(day)")
            }
        }
        #expect(changes > 100)
    }

    private static func change(
        _ number: UInt64, _ service: StoreService, day: Double, _ random: inout SplitMix64
    ) async throws {
        let original = "\(1000 + number)"
        switch Int.random(in: 0..<4, using: &random) {
        case 0, 1:
            let id = "\(Int(day * 100) * 10_000 + 2000 + Int(number))"
            let purchase = Sample.transaction(id, of: original, day, day + Double.random(in: 3...12, using: &random)) {
                $0.appAccountToken = Sample.token(number)
                if Bool.random(using: &random) {
                    $0.offer = AppliedOffer(type: .promotional, identifier: "stay", discountType: .payAsYouGo)
                }
            }
            try await service.store.merge([purchase], in: Sample.production)
        case 2: try await setAutoRenew(Bool.random(using: &random), service, day: day, of: number)
        default:
            let ends = String(
                decoding: Sample.day(day + Double.random(in: -1...9, using: &random)).iso8601, as: UTF8.self)
            try await service.store.setTeamFacts(
                [Sample.text("trialEnds"): .text(Array(ends.utf8))],
                of: .originalTransactionID(Sample.id(original)), in: Sample.production, at: Sample.day(day))
        }
    }
}
