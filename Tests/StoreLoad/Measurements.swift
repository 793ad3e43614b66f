import FoundationEssentials
import Glibc
import OfferCore
import OfferEligibility
import StoreTestSupport
import SubscriberStore

/// Measures a large database: its size, how long it takes to open, look-ups while notifications arrive, and syncs.
struct Measurements {
    let store: any SubscriberStore
    let count: Int

    static func run(_ location: StoreLocation, count: Int) async throws {
        let began = ContinuousClock.now
        let store = try location.open()
        print("open: \(ContinuousClock.now - began)")
        let measurements = Measurements(store: store, count: count)
        try await measurements.fill()
        try await measurements.lookUp("alone")
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await measurements.deliver(perSecond: 500) }
            try await measurements.lookUp("while 500 notifications a second arrive")
            group.cancelAll()
        }
        for callers in [1, 16, 64] { try await measurements.countSyncs(callers: callers) }
        try store.close()
    }

    /// Fills a database with customers of whose current period a renewal info is known.
    static func fill(_ location: StoreLocation, count: Int) async throws {
        let store = try location.open()
        // PostgreSQL takes several changes at a time.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<workers {
                group.addTask {
                    for start in stride(from: worker * 500, to: count, by: workers * 500) {
                        try await store.merge(customers(start..<min(start + 500, count)), in: Sample.production)
                    }
                }
            }
            try await group.waitForAll()
        }
        try store.close()
    }

    private static let workers = 4

    /// Adds what the first customers did in the last 28 days: each was exposed to the offer `first`, and has a signature
    /// and a link of the campaign `spring`. Every tenth redeemed the offer, and the console warns about every thousandth.
    static func addActivity(_ location: StoreLocation, count: Int) async throws {
        let store = try location.open()
        let now = Timestamp(.now)
        try await store.beginLedger(
            LedgerCoverage(apps: [Sample.production]), at: Timestamp(milliseconds: now.milliseconds - 29 * 86_400_000))
        let offer = Sample.offer("first", nonces: [], expiresAt: 0)
        for start in stride(from: 0, to: count, by: 500) {
            var (records, redemptions): ([StoreRecord], [SubscriberFact]) = ([], [])
            for number in start..<min(start + 500, count) {
                let at = Timestamp(milliseconds: now.milliseconds - Int64(number % (28 * 1440)) * 60000)
                let account = Sample.account(UInt64(number))
                let source = OfferSource(rule: "everybody", channel: .decision)
                let authorisation = Authorisation(
                    productID: offer.productID, offerID: offer.offerID, state: .outstanding, at: at,
                    expiresAt: at + .hours(26), validUntil: at + .hours(24), source: source)
                let exposure = Exposure(
                    subject: .customer(account), productID: offer.productID, offerID: offer.offerID,
                    arm: number % 10 == 9 ? .heldOut : .offered,
                    place: SamplePlace(sample: "s", isInSample: number % 10 != 9), source: source,
                    rulesDigest: Array(repeating: 7, count: 32), at: at)
                let link = MailedLink(
                    id: (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }, campaign: "spring",
                    subject: .customer(account), arm: .offered,
                    offer: Campaign.Offer(productID: offer.productID, offerID: offer.offerID), madeAt: at,
                    expiresAt: at + .hours(240))
                records += [.exposure(Sample.production, exposure), .mailedLink(Sample.production, link)]
                if number % 1000 != 0 {
                    let entry = AuthorisationEntry(
                        id: Sample.nonce(UInt64(number)), authorisation: authorisation, holders: [account])
                    records.append(.authorisation(Sample.production, entry))
                }
                if number % 10 == 0 { redemptions.append(redemption(of: number, at: at)) }
            }
            try await store.add(records)
            try await store.merge(redemptions, in: Sample.production)
        }
        try store.close()
    }

    /// A period of a customer that begins with the offer `first`.
    private static func redemption(of number: Int, at time: Timestamp) -> SubscriberFact {
        let facts = Sample.facts(number)
        let day = Double(time.milliseconds - Sample.day(0).milliseconds) / 86_400_000
        return Sample.transaction(
            "\(400_000_000_0000 + number)", of: facts[0].originalTransactionID.text.description, day, day + 30
        ) {
            $0.appAccountToken = facts[0].appAccountToken
            $0.appTransactionID = facts[0].appTransactionID
            $0.offer = AppliedOffer(type: .promotional, identifier: "first", discountType: .payAsYouGo)
        }
    }

    private static func customers(_ numbers: Range<Int>) -> [SubscriberFact] {
        numbers.flatMap { number in
            let facts = history(number)
            return facts + [
                Sample.renewal(of: facts[0].originalTransactionID.text.description, signed: 61) {
                    $0.appAccountToken = facts[0].appAccountToken
                }
            ]
        }
    }

    /// Adds subscriptions with three periods each, unless they are there.
    private func fill() async throws {
        let known = try await store.intakes().first?.subscriptions ?? 0
        for start in stride(from: known, to: count, by: 500) {
            let facts = (start..<min(start + 500, count)).flatMap { Self.history($0) }
            try await store.merge(facts, in: Sample.production)
        }
    }

    private static func history(_ number: Int) -> [SubscriberFact] {
        let facts = Sample.facts(number)
        let original = facts[0].originalTransactionID.text.description
        return facts
            + (1...2).map { period in
                Sample.transaction(
                    "\(300_000_000_0000 + number * 3 + period)", of: original, Double(period) * 30,
                    Double(period + 1) * 30
                ) {
                    $0.appAccountToken = facts[0].appAccountToken
                    $0.appTransactionID = facts[0].appTransactionID
                }
            }
    }

    private func lookUp(_ title: String) async throws {
        var times: [Duration] = []
        for _ in 0..<20_000 {
            let number = UInt64.random(in: 0..<UInt64(count))
            let began = ContinuousClock.now
            let found = try await store.customers(
                known: Sample.account(number), bundleID: Sample.bundleID, environment: .production)
            times.append(ContinuousClock.now - began)
            guard found.first?.facts.count ?? 0 >= 5 else { return print("customer \(number) is incomplete") }
        }
        times.sort()
        print("look-up \(title): p50 \(times[times.count / 2]), p99 \(times[times.count * 99 / 100])")
    }

    /// Delivers until it is cancelled.
    private func deliver(perSecond rate: Int) async throws {
        for number in 0... {
            guard (try? await Task.sleep(for: .seconds(1) / rate)) != nil else { return }
            let delivery = Self.delivery(number, of: Int.random(in: 0..<count))
            _ = try await store.apply(delivery)
        }
    }

    private func countSyncs(callers: Int) async throws {
        let (before, began) = (store.counts, ContinuousClock.now)
        await withTaskGroup(of: Void.self) { group in
            for caller in 0..<callers {
                group.addTask {
                    for number in 0..<(6400 / callers) {
                        let delivery = Self.delivery(number * 64 + caller, of: Int.random(in: 0..<count))
                        _ = try? await store.apply(delivery)
                    }
                }
            }
        }
        let changes = store.counts.changes - before.changes
        let syncs = Double(store.counts.commits - before.commits) / Double(changes)
        let rate = Double(changes) / ((ContinuousClock.now - began) / .seconds(1))
        let roundTrips = Double(store.counts.roundTrips - before.roundTrips) / Double(changes)
        print(
            "\(callers) callers: \(syncs) syncs and \(roundTrips) round trips per notification, "
                + "\(Int(rate)) notifications a second")
    }

    /// A renewal, with a body of the usual size.
    private static func delivery(_ number: Int, of subscription: Int) -> Delivery {
        let body = String(repeating: "eyJhbGciOiJFUzI1NiIsIng1YyI6", count: 700)
        let uuid = "\(UInt64.random(in: 0 ... .max))-\(number)"
        return Sample.delivery(uuid, Sample.facts(subscription, signed: Double(number)), body: body)
    }
}
