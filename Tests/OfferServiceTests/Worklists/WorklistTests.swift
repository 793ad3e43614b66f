import Foundation
import OfferCore
import OfferEligibility
import OfferHTTP
import OfferService
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@Suite("Lists of customers to write to")
struct WorklistTests {
    private static let offers = """
        {offerID: stay, rule: retention, limits: {perCustomer: 1}}, \
        {offerID: back, rule: {subscription: {status: expired, endedAgo: {atLeast: 3d}}}}, \
        {offerID: some, rule: {all: [{subscription: {autoRenew: off}}, {share: {of: 0.5, by: s}}]}}, \
        {offerID: few, rule: {subscription: {status: active}}, limits: {total: 3}}
        """
    private static let app = "appAppleID: 1234567890\n    grants: {reasons: [goodwill]}"

    private static func list(
        _ service: StoreService, _ members: String, token: String? = nil
    ) async throws -> [[String: Any]] {
        var (all, after) = ([[String: Any]](), "")
        while true {
            let answer = await service.post("/v1/customers/list", members + after, token: token)
            #expect(answer.status == 200, "\(answer.text)")
            all += answer.json["customers"] as? [[String: Any]] ?? []
            guard let next = answer.json["next"] as? String else { return all }
            after = #","after":"\#(next)""#
        }
    }

    private static func tokens(_ list: [[String: Any]]) -> [String] {
        list.map { $0["appAccountToken"] as? String ?? $0["originalTransactionID"] as? String ?? "" }.sorted()
    }

    /// Adds a customer of a kind that a number selects: active, cancelled, lapsed, refunded, in billing retry, with a
    /// redemption, an open signature or a grant, with two subscriptions, with two Apple Accounts, or without an account.
    private static func add(_ number: UInt64, to service: StoreService, _ random: inout SplitMix64) async throws {
        let kind = Int.random(in: 0..<10, using: &random)
        let account: UInt64? = kind == 9 ? nil : number
        let isOn = Bool.random(using: &random)
        let original = "\(1_000_000 + number * 10)"
        let length = Double(Int.random(in: 2...40, using: &random))
        let start = Double(Int.random(in: -40...8, using: &random))
        let purchase = Sample.transaction(original, of: original, start, start + length) { purchase in
            purchase.appAccountToken = account.map(Sample.token)
            if kind == 3 { purchase.revocation = Revocation(date: Sample.day(start + 1), reason: .other) }
            if kind == 5 {
                purchase.offer = AppliedOffer(type: .promotional, identifier: "stay", discountType: .payAsYouGo)
            }
            if kind == 7 || number.isMultiple(of: 2) { purchase.appTransactionID = Sample.id("70\(number)") }
        }
        let renewal = Sample.renewal(of: original, signed: start + 1) { renewal in
            renewal = Renewal(productID: renewal.productID, autoRenewStatus: isOn ? .on : .off)
            renewal.autoRenewProductID = renewal.productID
            renewal.appAccountToken = account.map(Sample.token)
            if account != nil, number.isMultiple(of: 7) { renewal.priceIncreaseStatus = .unanswered }
        }
        try await service.store.merge([purchase, renewal], in: Sample.production)
        switch kind {
        case 4:
            let status = Sample.status(3, of: original, signed: start + length + 0.1)
            let renewal = Sample.renewal(of: original, signed: start + length + 0.1) { renewal in
                renewal.isInBillingRetryPeriod = true
                renewal.expirationIntent = .billingError
                renewal.appAccountToken = account.map(Sample.token)
            }
            try await service.store.merge([status, renewal], in: Sample.production)
        case 6: _ = try await service.decide(StoreService.token(number))
        case 7:
            let other = Sample.transaction("\(1_000_001 + number * 10)", of: "\(1_000_001 + number * 10)", -20, 20) {
                $0.appAccountToken = account.map(Sample.token)
                $0.appTransactionID = Sample.id("71\(number)")
            }
            try await service.store.merge([other], in: Sample.production)
        case 8:
            try await service.addSubscriber("\(1_000_001 + number * 10)", account: account, autoRenew: !isOn) {
                $0.subscriptionGroupID = "2"
            }
            _ = await service.post(
                "/v1/grants",
                #"\#(StoreService.token(number)),"productID":"monthly","offerID":"back","reason":"goodwill""#)
        default: break
        }
    }

    /// The location of a new database; nil for one in SQLite.
    private static func location(_ isPostgreSQL: Bool) throws -> StoreLocation? {
        isPostgreSQL ? .postgreSQL(url: try TestPostgreSQL.shared.get().makeDatabase()) : nil
    }

    /// `WORKLIST_CUSTOMERS` asks for more customers, as `scripts/soak lists` does.
    @Test(
        "it names those to whom a decision gives the offer, for random customers of each kind, and nobody else",
        arguments: [false, true])
    func decisions(onPostgreSQL: Bool) async throws {
        let count = ProcessInfo.processInfo.environment["WORKLIST_CUSTOMERS"].flatMap(UInt64.init) ?? 300
        let service = try StoreService(Self.offers, app: Self.app, location: try Self.location(onPostgreSQL))
        var random = SplitMix64(seed: 49)
        for number in 1...count { try await Self.add(number, to: service, &random) }
        let app = try #require(service.catalogue.apps[Sample.bundleID])
        var eligible: [String: [String]] = [:]
        var states: [String: Set<String>] = [:]
        for number in 1...count {
            let decision = try await service.decide(StoreService.token(number) + #","sign":false"#)
            let subscriptions = decision.json["subscriptions"] as? [[String: Any]] ?? []
            for offer in decision.eligible { eligible[offer, default: []].append("\(Sample.token(number))") }
            for subscription in subscriptions where subscription["settled"] == nil {
                states[subscription["status"] as? String ?? "", default: []].insert("\(Sample.token(number))")
                guard subscription["priceIncrease"] as? String == "pending",
                    subscription["status"] as? String == "active", subscription["autoRenews"] as? Bool == true
                else { continue }
                states["price_increase", default: []].insert("\(Sample.token(number))")
            }
            guard subscriptions.isEmpty else { continue }
            // A decision for an app names an account. This customer has none.
            let original = "\(1_000_000 + number * 10)"
            let other = try await CustomerDecision(
                about: .originalTransactionID(Sample.id(original)), of: app, Sample.bundleID, in: nil, productIDs: nil,
                store: service.current, at: Sample.day(10), log: RecordedLog().logger)
            for verdict in other.verdicts where verdict.reasons.isEmpty {
                eligible[verdict.offer.offerID.text.description, default: []].append(original)
            }
        }
        for offer in ["stay", "back", "some", "few"] {
            let list = try await Self.list(service, #""offerID":"\#(offer)""#)
            #expect(Self.tokens(list) == eligible[offer, default: []].sorted(), "\(offer)")
            // The signatures and redemptions of the customers have used up the total of "few".
            #expect(!list.isEmpty || offer == "few", "\(offer)")
        }
        for state in ["billing_retry", "price_increase"] {
            let list = try await Self.list(service, #""state":"\#(state)""#)
            #expect(Self.tokens(list) == states[state, default: []].sorted() && !list.isEmpty, "\(state)")
        }
        // The whole list at once has the same customers, whatever the number of workers.
        let stay = try #require(app.rules.offers.first)
        for workers in 1...3 {
            let all = try await WorklistReader(
                .offer(stay, includesHeldOut: false), of: Sample.production, app, at: Sample.day(10)
            ).all(in: service.store, workers: workers, pageSize: 7) { _ in }
            let names = all.map { $0.appAccountToken?.description ?? $0.originalTransactionID.text.description }
            #expect(names.sorted() == eligible["stay", default: []].sorted())
        }
    }

    @Test("held-out customers are listed only on request, and marked")
    func heldOut() async throws {
        let service = try StoreService(Self.offers)
        for number in 1...60 as ClosedRange<UInt64> {
            try await service.addSubscriber("\(1000 + number)", account: number, autoRenew: false) {
                $0.appTransactionID = Sample.id("70\(number)")
            }
        }
        let offered = try await Self.list(service, #""offerID":"some""#)
        let both = try await Self.list(service, #""offerID":"some","heldOut":"include""#)
        let held = both.filter { $0["heldOut"] as? Bool == true }
        #expect(both.count == 60 && held.count == 60 - offered.count && (10...50).contains(offered.count))
        #expect(offered.allSatisfy { $0["heldOut"] == nil })
        #expect(Set(Self.tokens(held)).isDisjoint(with: Self.tokens(offered)))
    }

    @Test("while a total has a place left, everybody is listed; then nobody but the holder of a signature")
    func total() async throws {
        let service = try StoreService("{offerID: few, rule: {subscription: {status: active}}, limits: {total: 2}}")
        for number in 1...5 as ClosedRange<UInt64> {
            try await service.addSubscriber("\(1000 + number)", account: number)
        }
        #expect(try await Self.list(service, #""offerID":"few""#).count == 5)
        for number in 1...2 as ClosedRange<UInt64> {
            #expect(try await Self.list(service, #""offerID":"few""#).count == 6 - Int(number))
            #expect(try await service.decide(StoreService.token(number)).signed == ["few"])
        }
        #expect(try await Self.list(service, #""offerID":"few""#).isEmpty)
        service.setDay(12)
        #expect(try await Self.list(service, #""offerID":"few""#).count == 5, "the signatures have expired")
    }

    @Test("the first page of a list has a line in the audit trail, and the next pages have none")
    func audited() async throws {
        let folder = try TemporaryFolder()
        let trail = try await StoreService.trail(in: folder)
        let service = try StoreService(Self.offers) { $0.safeguards.trail = trail }
        _ = await service.post("/v1/customers/list", #""offerID":"stay","environment":"Production""#)
        _ = await service.post("/v1/customers/list", #""state":"billing_retry","after":"1""#)
        let text = try String(contentsOfFile: folder.path + "/audit.jsonl", encoding: .utf8)
        #expect(text.components(separatedBy: #""kind":"customer_list""#).count == 2)
        try await service.addSubscriber("1000", account: 1)
        _ = await service.post("/v1/customers/list", #""offerID":"few""#)
        #expect(service.routes.scrape().sum(of: "offer_signer_listed_customers_total") == 1)
        #expect(text.contains(#""offerID":"stay""#) && text.contains(#""environment":"Production""#), "\(text)")
    }

    @Test("customers who have not agreed to a higher price are listed until they agree or leave")
    func priceIncrease() async throws {
        let service = try StoreService(Self.offers)
        for number in 1...4 as ClosedRange<UInt64> {
            try await service.addSubscriber("\(1000 + number)", account: number)
            let renewal = Sample.renewal(of: "\(1000 + number)", signed: 2) { renewal in
                // The fourth has switched auto-renew off, and so has nothing to agree to.
                renewal = Renewal(productID: renewal.productID, autoRenewStatus: number == 4 ? .off : .on)
                renewal.appAccountToken = Sample.token(number)
                if number != 3 { renewal.priceIncreaseStatus = number == 2 ? .accepted : .unanswered }
            }
            try await service.store.merge([renewal], in: Sample.production)
        }
        let list = try await Self.list(service, #""state":"price_increase""#)
        #expect(Self.tokens(list) == ["\(Sample.token(1))"])
        #expect(list.first?["productID"] as? String == "monthly" && list.first?["status"] as? String == "active")
        #expect(list.first?["endsAt"] as? Int64 == Sample.day(30).milliseconds)
        // Once the period is over, nothing is certain.
        service.setDay(31)
        #expect(try await Self.list(service, #""state":"price_increase""#).isEmpty)
    }

    @Test("a customer who is erased while the list is made is not in it")
    func erased() async throws {
        let service = try StoreService(Self.offers)
        for number in 1...30 as ClosedRange<UInt64> {
            try await service.addSubscriber("\(1000 + number)", account: number, autoRenew: false)
        }
        let erasing = ErasingStore(service: service)
        let list = try await Self.reader(of: service).all(in: service.store, workers: 1, pageSize: 10) {
            erasing.erase(atShare: $0)
        }
        #expect(list.count == 29 && !list.contains { $0.appAccountToken == Sample.token(1) })
    }

    @Test(
        "a customer who is erased while the list is made is not in it, even if the subscription is kept for another one"
    )
    func erasedButKept() async throws {
        let service = try StoreService(Self.offers, app: Self.app + "\n    ownership: share")
        for number in 1...30 as ClosedRange<UInt64> {
            try await service.addSubscriber("\(1000 + number)", account: number, autoRenew: false)
        }
        let other = Sample.transaction("2001", of: "1001", 0, 30) { $0.appAccountToken = Sample.token(31) }
        try await service.store.merge([other], in: Sample.production)
        let erasing = ErasingStore(service: service)
        let list = try await Self.reader(of: service).all(in: service.store, workers: 1, pageSize: 10) {
            erasing.erase(atShare: $0)
        }
        #expect(list.count == 30 && !list.contains { $0.appAccountToken == Sample.token(1) })
        #expect(list.contains { $0.appAccountToken == Sample.token(31) })
    }

    @Test(
        "a customer who is erased while a page is made is not on it, and one with other names stays",
        arguments: [false, true])
    func erasedFromPage(onPostgreSQL: Bool) async throws {
        let service = try StoreService(
            Self.offers, app: Self.app + "\n    ownership: share", location: try Self.location(onPostgreSQL))
        for number in 1...3 as ClosedRange<UInt64> {
            try await service.addSubscriber("\(1000 + number)", account: number, autoRenew: false)
        }
        let other = Sample.transaction("2001", of: "1001", 0, 30) { $0.appAccountToken = Sample.token(31) }
        try await service.store.merge([other], in: Sample.production)
        // This customer's name is that of a link only, and the first subscription has no name.
        try await service.addSubscriber("1004", account: nil, autoRenew: false)
        let username = Sample.text("anna")
        try await service.store.link(
            .originalTransactionID(Sample.id("1004")), to: .applicationUsername(username), in: Sample.production,
            at: Sample.day(9))
        let reader = try Self.reader(of: service)
        let before = try await reader.page(from: nil, limit: 100, in: service.store).customers
        #expect(before.count == 5, "\(before)")
        let page = try await reader.page(from: nil, limit: 100, in: service.store) {
            for number in 1...2 as ClosedRange<UInt64> {
                _ = try? await service.store.erase(Sample.account(number), in: Sample.production)
            }
        }
        #expect(page.customers.map(\.appAccountToken) == [Sample.token(31), Sample.token(3), nil], "\(page.customers)")
        #expect(page.customers.last?.applicationUsername == username)
    }

    /// A reader of the customers who may have the first offer.
    private static func reader(of service: StoreService) throws -> WorklistReader {
        let app = try #require(service.catalogue.apps[Sample.bundleID])
        return WorklistReader(
            .offer(try #require(app.rules.offers.first), includesHeldOut: false), of: Sample.production, app,
            at: Sample.day(10))
    }

    /// Erases customer 1 after the first page.
    private struct ErasingStore {
        let service: StoreService

        func erase(atShare share: Double) {
            let done = DispatchSemaphore(value: 0)
            // This blocks a thread of Swift's own pool, of which there may be no other.
            Task.detached(executorPreference: service.store.executor) {
                _ = try? await service.store.erase(Sample.account(1), in: Sample.production)
                done.signal()
            }
            done.wait()
        }
    }

    @Test("a request that names no list, two lists or an unknown offer is refused")
    func refusals() async throws {
        let service = try StoreService(Self.offers)
        for (members, status, field) in [
            (#""heldOut":"include""#, 400, "offerID"), (#""offerID":"stay","state":"billing_retry""#, 400, "offerID"),
            (#""state":"expired""#, 400, "state"), (#""offerID":"nothing""#, 404, "offerID"),
            (#""offerID":"stay","productID":"basic""#, 404, "offerID"),
            (#""offerID":"stay","heldOut":1"#, 400, "heldOut"),
            (#""offerID":"stay","after":"-1""#, 400, "after"), (#""offerID":"stay","after":"x""#, 400, "after"),
            (#""offerID":"stay","after":"+5""#, 400, "after"),
            (#""offerID":"stay","limit":1"#, 400, "limit"),
            (#""offerID":"stay","environment":"Xcode""#, 400, "environment"),
        ] {
            let answer = await service.post("/v1/customers/list", members)
            #expect(answer.status == status && answer.json["field"] as? String == field, "\(members) \(answer.text)")
        }
    }
}
