import NIOConcurrencyHelpers
import OfferCore
import OfferEligibility
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@Suite("A store counts redemptions")
struct RedemptionTests {
    private static let start = 1000.0
    private static let account = Sample.account(1)

    private static func offer(_ identifier: String?, _ discount: OfferDiscountType = .payAsYouGo) -> AppliedOffer? {
        identifier.map { AppliedOffer(type: .promotional, identifier: $0, discountType: discount) }
    }

    /// A period of a month that begins some days after the start.
    private static func period(
        _ id: String, _ day: Double, _ offer: String? = "half", of original: String = "1",
        _ change: (inout Purchase) -> Void = { _ in }
    ) -> SubscriberFact {
        Sample.transaction(id, of: original, start + day, start + day + 30) {
            $0.offer = Self.offer(offer)
            $0.appAccountToken = Sample.token(1)
            change(&$0)
        }
    }

    private static func renewal(
        _ day: Double, _ offer: String?, endOfPeriod end: Double? = nil, of original: String = "1",
        isOn: Bool = true
    ) -> SubscriberFact {
        let product = Sample.renewal(of: original, signed: start + day)
        guard case .renewalInfo(let known) = product.value else { return product }
        var renewal = Renewal(productID: known.productID, autoRenewStatus: isOn ? .on : .off)
        renewal.autoRenewProductID = known.autoRenewProductID
        renewal.renewalDate = end.map { Sample.day(start + $0) }
        renewal.offer = Self.offer(offer)
        return Sample.fact(.renewalInfo(renewal), original, of: original, signed: start + day)
    }

    private static func request(
        _ nonces: [UInt64], _ limits: OfferLimits, by holders: [CustomerIdentifier] = [account], at day: Double,
        expiresAt end: Double? = nil, validUntil: Double? = nil
    ) -> LedgerRequest {
        let offer = Sample.offer(
            "half", limits, nonces: nonces, expiresAt: start + (end ?? day + 1),
            validUntil: validUntil.map { start + $0 })
        return Sample.request([offer], by: holders, at: start + day)
    }

    private static func redemptions(_ store: any SubscriberStore) async throws -> [LedgerRedemption] {
        try await store.ledgerEntries(of: [account], in: Sample.production).redemptions
            .sorted { ($0.at, $0.offerID) < ($1.at, $1.offerID) }
    }

    private static func days(_ store: any SubscriberStore) async throws -> [Double] {
        try await redemptions(store).map { Double($0.at.milliseconds - Sample.day(start).milliseconds) / 86_400_000 }
    }

    private static func unexplained(_ store: any SubscriberStore) async throws -> Int {
        let apps: Set<AppScope> = [Sample.production]
        try await store.beginLedger(LedgerCoverage(apps: apps), at: Sample.day(0))
        return try await store.unexplainedRedemptions(in: apps, limit: 99).count
    }

    // MARK: Announced again

    @Test(
        "an offer announced again while it runs is a second redemption under every limit, in any order",
        arguments: StoreEngine.all, [nil, 30.0])
    func announcedAgain(engine: StoreEngine, end: Double?) async throws {
        let facts = [
            Self.period("2", 0), Self.renewal(1, nil, endOfPeriod: end), Self.renewal(5, "half", endOfPeriod: end),
        ]
        let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0], [2, 2, 0, 1, 0, 2, 1]]
        for order in orders {
            try await engine.withStore { store in
                for place in order { try await store.merge([facts[place]], in: Sample.production) }
                #expect(try await Self.days(store) == [0, 5], "\(order)")
                let limits: [(OfferLimits, ReasonCode)] = [
                    (OfferLimits(perCustomer: .init(count: 2)), .customerCap), (OfferLimits(total: 2), .totalCap),
                    (OfferLimits(cooldown: .days(10)), .cooldown),
                ]
                for (limits, code) in limits {
                    let answers = try await store.reserve(Self.request([1], limits, at: 14))
                    #expect(answers == [.refused([code])], "\(order)")
                }
                // The next period has it, and is the redemption that was announced.
                try await store.merge([Self.period("3", 30)], in: Sample.production)
                #expect(try await Self.days(store) == [0, 30], "\(order)")
                #expect(try await store.check() == [])
            }
        }
    }

    @Test("an offer that goes on is no second redemption", arguments: StoreEngine.all)
    func goesOn(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let facts = [
                Self.period("2", 0), Self.renewal(1, "half", endOfPeriod: 30), Self.period("3", 30),
                Self.renewal(31, nil, endOfPeriod: 60), Self.period("4", 60, nil),
                Self.renewal(61, nil, endOfPeriod: 90),
            ]
            for fact in facts { try await store.merge([fact], in: Sample.production) }
            #expect(try await Self.days(store) == [0])
        }
    }

    @Test(
        "an offer that was missing while renewal was off was redeemed again if a signature explains it",
        arguments: StoreEngine.all)
    func missingWhileOff(engine: StoreEngine) async throws {
        for hasSignature in [false, true] {
            try await engine.withStore { store in
                try await store.merge([Self.period("2", 0)], in: Sample.production)
                if hasSignature { _ = try await store.reserve(Self.request([1], OfferLimits(), at: 4.9)) }
                for fact in [
                    Self.renewal(5, "half", endOfPeriod: 30), Self.renewal(1, nil, endOfPeriod: 30, isOn: false),
                ] {
                    try await store.merge([fact], in: Sample.production)
                }
                #expect(try await Self.days(store) == (hasSignature ? [0, 5] : [0]))
                #expect(try await Self.unexplained(store) == 1, "the first one")
            }
        }
    }

    @Test(
        "a renewal info that an older version has kept counts when the next one replaces it", arguments: [true, false])
    func olderVersion(isExported: Bool) async throws {
        let database = try TestDatabase()
        let store = try database.open()
        defer { try? store.close() }
        let facts = [Self.period("2", 0), Self.renewal(1, nil, endOfPeriod: 30)]
        if isExported {
            try await store.add(facts.map { .fact(Sample.production, $0) })
        } else {
            for fact in facts { try await store.merge([fact], in: Sample.production) }
            try database.execute("DELETE FROM announcement; UPDATE subscription SET lacks_announcements = 1")
        }
        #expect(try database.fetch("SELECT count(*) FROM announcement") == [0])
        try await store.merge([Self.renewal(5, "half", endOfPeriod: 30)], in: Sample.production)
        #expect(try await Self.days(store) == [0, 5])
    }

    @Test(
        "a renewal info without an offer is not announced because its period's end changes before an offer comes",
        arguments: StoreEngine.all)
    func extendedPeriod(engine: StoreEngine) async throws {
        let shown = [Self.period("2", 0, nil), Self.renewal(1, nil, endOfPeriod: 30)]
        let extended = Sample.transaction("2", of: "1", Self.start, Self.start + 35, signed: Self.start + 2)
        let later = [Self.period("3", 35)]
        let ofSamePeriod = [
            Sample.transaction("3", of: "1", Self.start + 10, Self.start + 30, signed: Self.start + 10) {
                $0.offer = AppliedOffer(type: .promotional, identifier: "half", discountType: .payAsYouGo)
            }
        ]
        for arrivals in [
            [shown, [extended], later], [later, [extended], shown], [shown, [extended], ofSamePeriod],
            [ofSamePeriod, [extended], shown],
        ] {
            try await engine.withStore { store in
                for facts in arrivals { try await store.merge(facts, in: Sample.production) }
                let announced = try await Self.records(store).filter { record in
                    guard case .fact(_, let fact) = record else { return false }
                    return fact.key.kind.isAnnouncement
                }
                #expect(announced.isEmpty)
            }
        }
    }

    @Test(
        "a redemption that turns out to be older leaves the signature that another redemption needs",
        arguments: StoreEngine.all)
    func olderThanItsSignature(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            for (nonce, day) in [(1 as UInt64, 0.4), (2, 29.9)] {
                _ = try await store.reserve(
                    Self.request([nonce], OfferLimits(), at: day, expiresAt: day + 1, validUntil: day + 1))
            }
            // The period was bought a month after the offer was redeemed, when the second signature was valid.
            for fact in [Self.period("2", 0, nil), Self.period("3", 30)] {
                try await store.merge([fact], in: Sample.production)
            }
            #expect(try await Self.redemptions(store).map(\.authorisedAt) == [Sample.day(Self.start + 29.9)])
            try await store.merge([Self.renewal(0.5, "half", endOfPeriod: 30)], in: Sample.production)
            #expect(try await Self.redemptions(store).map(\.authorisedAt) == [Sample.day(Self.start + 0.4)])
            // The customer redeems the offer again, with the second signature.
            for fact in [Self.renewal(30.1, nil, endOfPeriod: 60), Self.renewal(30.2, "half", endOfPeriod: 60)] {
                try await store.merge([fact], in: Sample.production)
            }
            #expect(try await Self.days(store) == [30, 30.2])
            #expect(try await Self.unexplained(store) == 0)
            #expect(try await store.check() == [])
        }
    }

    @Test(
        "any order and repetition of the same inputs ends in the same redemptions and counts",
        arguments: StoreEngine.all)
    func anyOrder(engine: StoreEngine) async throws {
        var second = 0
        for seed in 0..<16 as Range<UInt64> {
            var random = SplitMix64(seed: seed)
            let arrivals = Self.arrivals(&random)
            var outcomes: [[String]] = []
            for round in 0..<3 {
                let order = (arrivals + arrivals.filter { _ in Bool.random(using: &random) }).shuffled(using: &random)
                try await engine.withStore { store in
                    for facts in order { try await store.merge(facts, in: Sample.production) }
                    let redemptions = try await Self.redemptions(store)
                    outcomes.append(redemptions.map { "\($0.offerID) \($0.at.milliseconds)" })
                    #expect(try await store.check() == [], "seed \(seed)")
                    // An export keeps what was announced.
                    guard round == 0 else { return }
                    let records = try await Self.records(store)
                    try await engine.withStore { other in
                        try await other.add(records)
                        let moved = try await Self.redemptions(other)
                        #expect(moved.map(\.at) == redemptions.map(\.at), "seed \(seed)")
                    }
                }
            }
            #expect(Set(outcomes).count == 1, "seed \(seed): \(outcomes)")
            if outcomes[0].count > 1 { second += 1 }
        }
        #expect(second > 4, "several redemptions are no exception")
    }

    /// Periods with and without an offer, and what renewal infos say in them.
    private static func arrivals(_ random: inout SplitMix64) -> [[SubscriberFact]] {
        var arrivals: [[SubscriberFact]] = []
        let offers = [nil, "half", "half", "half", "other"]
        for number in 0..<Int.random(in: 2...4, using: &random) {
            let day = Double(number) * 30
            let period = period("\(number + 2)", day, offers.randomElement(using: &random) ?? nil) {
                if Int.random(in: 0..<8, using: &random) == 0 { $0.ownership = .familyShared }
                if Int.random(in: 0..<4, using: &random) == 0 { $0.ownership = nil }
            }
            arrivals.append([period])
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                let renewal = renewal(
                    day + Double.random(in: 0..<30, using: &random), offers.randomElement(using: &random) ?? nil,
                    endOfPeriod: Bool.random(using: &random) ? day + 30 : nil,
                    isOn: Int.random(in: 0..<4, using: &random) > 0)
                arrivals.append(Bool.random(using: &random) ? [period, renewal] : [renewal])
            }
        }
        return arrivals
    }

    private static func records(_ store: any SubscriberStore) async throws -> [StoreRecord] {
        let records = NIOLockedValueBox<[StoreRecord]>([])
        try await store.forEachRecord { record throws(StoreError) in records.withLockedValue { $0.append(record) } }
        return records.withLockedValue { $0 }
    }

    // MARK: Explanations

    @Test("only a signature that was valid when the customer bought explains a redemption", arguments: StoreEngine.all)
    func explains(engine: StoreEngine) async throws {
        let minute = 1.0 / 1440
        // Handed out on day 10, and worthless after day 11, although it holds its slot for two hours more.
        let expected: [(day: Double, isExplained: Bool)] = [
            (10 - 6 * minute, false), (10 - 4 * minute, true), (10.5, true), (11 + 4 * minute, true),
            (11 + 6 * minute, false), (11 + 60 * minute, false), (410, false),
        ]
        for (day, isExplained) in expected {
            try await engine.withStore { store in
                let request = Self.request([1], OfferLimits(), at: 10, expiresAt: 11 + 120 * minute, validUntil: 11)
                #expect(try await store.reserve(request) == [.reserved])
                try await store.merge([Self.period("2", day)], in: Sample.production)
                #expect(try await Self.unexplained(store) == (isExplained ? 0 : 1), "day \(day)")
            }
        }
    }

    @Test("the announcement tells when the customer bought, whenever it becomes known", arguments: StoreEngine.all)
    func explainedByAnnouncement(engine: StoreEngine) async throws {
        let facts = [
            Self.period("2", 0, nil), Self.renewal(10.5, "half", endOfPeriod: 30),
            Self.renewal(20, "half", endOfPeriod: 30), Self.period("3", 30),
        ]
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [3, 0, 1], [2, 0, 1, 3]] {
            try await engine.withStore { store in
                #expect(try await store.reserve(Self.request([1], OfferLimits(), at: 10)) == [.reserved])
                for place in order { try await store.merge([facts[place]], in: Sample.production) }
                #expect(try await Self.unexplained(store) == 0, "\(order)")
                #expect(try await Self.days(store) == [30], "\(order)")
            }
        }
    }

    // MARK: Ownership

    @Test("the offer of a share, a seat or an unknown ownership is no redemption", arguments: StoreEngine.all)
    func shares(engine: StoreEngine) async throws {
        let cases: [(String?, Int)] = [
            ("PURCHASED", 1), (nil, 1), ("FAMILY_SHARED", 0), ("ASSIGNED", 0), ("LENT", 0),
        ]
        for (ownership, count) in cases {
            try await engine.withStore { store in
                let period = Self.period("2", 0) { $0.ownership = ownership.map(OwnershipType.init) }
                for fact in [period, Self.renewal(1, "other", endOfPeriod: 30)] {
                    try await store.merge([fact], in: Sample.production)
                }
                #expect(try await Self.redemptions(store).map(\.offerID) == Array(["half", "other"].prefix(2 * count)))
                #expect(try await Self.unexplained(store) == 2 * count, "\(ownership ?? "none")")
                for limits in [
                    OfferLimits(perCustomer: .init(count: 1)), OfferLimits(total: 1), OfferLimits(cooldown: .days(9)),
                ] {
                    let answers = try await store.reserve(Self.request([], limits, at: 2))
                    #expect((answers == [.allowed]) == (count == 0), "\(ownership ?? "none")")
                }
            }
        }
    }

    @Test(
        "a receipt names no ownership, and a share that shows later was never a redemption", arguments: StoreEngine.all)
    func shareByReceipt(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let period = Self.period("2", 0) { $0.ownership = nil }
            guard case .transaction(let purchase) = period.value else { return }
            let receipt = Sample.fact(.receiptTransaction(purchase), "2", of: "1", signed: Self.start + 1)
            try await store.merge([receipt], in: Sample.production)
            #expect(try await Self.days(store) == [0])
            let signed = Self.period("2", 0) { $0.ownership = .familyShared }
            try await store.merge([signed], in: Sample.production)
            #expect(try await Self.days(store) == [])
            #expect(try await store.check() == [])
        }
    }

    // MARK: Slots and counters

    @Test("after an export and an import, each form of an answer holds its own slot", arguments: StoreEngine.all)
    func movedSlots(engine: StoreEngine) async throws {
        let limits = OfferLimits(total: 4, outstanding: 2)
        for isOld in [false, true] {
            let records = try await engine.withStore { store in
                for number in 1...2 as ClosedRange<UInt64> {
                    let request = Self.request(
                        [2 * number, 2 * number + 1], limits, by: [Sample.account(number)], at: 0)
                    #expect(try await store.reserve(request) == [.reserved])
                }
                return try await Self.records(store)
            }
            try await engine.withStore { store in
                let moved = records.map { isOld ? $0.ofOlderVersion : $0 }
                for _ in 1...2 { try await store.add(moved) }
                let third = Self.request([9], limits, by: [Sample.account(3)], at: 0.5)
                #expect(try await store.reserve(third) == [.refused([.totalCap])])
                for original in ["11", "12", "13", "14"] {
                    let account = Sample.token(original < "13" ? 1 : 2)
                    let period = Self.period(original, 0.1, of: original) { $0.appAccountToken = account }
                    try await store.merge([period], in: Sample.production)
                }
                #expect(try await Self.unexplained(store) == 0)
                #expect(try await store.reserve(third) == [.refused([.totalCap])])
                if !isOld { #expect(try await Self.records(store).count >= records.count) }
            }
        }
        // Forms that shared a slot share it again.
        let records = try await engine.withStore { store in
            _ = try await store.reserve(Self.request([2, 3], OfferLimits(), at: 0))
            return try await Self.records(store)
        }
        try await engine.withStore { store in
            try await store.add(records)
            let other = Self.request([9], OfferLimits(total: 2), by: [Sample.account(3)], at: 0.5)
            #expect(try await store.reserve(other) == [.reserved])
        }
    }

    @Test(
        "the counter of redemptions stays exact through erasures, retractions, imports and concurrent changes",
        arguments: StoreEngine.all)
    func counter(engine: StoreEngine) async throws {
        try await engine.withSharedStore { stores in
            let store = stores[0]
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...40 {
                    let period = Self.period("\(100 + number)", 0, of: "\(100 + number)") {
                        $0.appAccountToken = Sample.token(UInt64(number))
                    }
                    let store = stores[number % stores.count]
                    group.addTask {
                        _ = try await store.apply(Sample.delivery("n\(number)", [period]))
                    }
                }
                try await group.waitForAll()
            }
            func isLeft(of total: Int) async throws -> Bool {
                let request = Self.request([], OfferLimits(total: total), by: [Sample.account(99)], at: 2)
                return try await store.reserve(request) == [.allowed]
            }
            func areTaken(_ slots: Int) async throws -> Bool {
                let (hasOneMore, hasOne) = (try await isLeft(of: slots + 1), try await isLeft(of: slots))
                return hasOneMore && !hasOne
            }
            #expect(try await areTaken(40))
            // An erased customer counts on; what was read wrongly does not.
            _ = try await store.erase(Sample.account(1), in: Sample.production)
            #expect(try await areTaken(40))
            let payloads = try await store.payloads(after: nil, limit: 3)
            _ = try await store.rederive(
                payloads.map { payload in
                    let digests = (1...40).map { Self.period("\(100 + $0)", 0, of: "\(100 + $0)") { _ in } }.map(
                        \.digest)
                    return Sample.reread(payload, [], silent: Set(digests + Self.digests))
                })
            #expect(try await areTaken(40 - payloads.count))
            #expect(try await store.check() == [])
        }
    }

    /// Of the periods in ``counter(engine:)``.
    private static var digests: [[UInt8]] {
        (1...40).map { number in
            period("\(100 + number)", 0, of: "\(100 + number)") { $0.appAccountToken = Sample.token(UInt64(number)) }
                .digest
        }
    }
}

extension StoreRecord {
    /// The record without what an older version did not export.
    fileprivate var ofOlderVersion: StoreRecord {
        guard case .authorisation(let app, let entry) = self else { return self }
        return .authorisation(
            app,
            AuthorisationEntry(
                id: entry.id, authorisation: entry.authorisation, holders: entry.holders, twin: entry.twin))
    }
}
