import NIOConcurrencyHelpers
import OfferCore
import OfferEligibility
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@Suite("A store keeps the ledger")
struct LedgerTests {
    /// When the ledger begins to expect authorisations.
    fileprivate static let start = 1000.0
    private static let account = Sample.account(1)

    private func reservation(
        _ number: UInt64, by holders: [CustomerIdentifier] = [account, .originalTransactionID(Sample.id("1"))],
        _ limits: OfferLimits = OfferLimits(perCustomer: .init(count: 1)), at day: Double = start,
        offer: String = "half", in app: AppScope = Sample.production
    ) -> LedgerRequest {
        Sample.request(
            [Sample.offer(offer, limits, nonces: [number], expiresAt: day + 1)], by: holders, at: day, in: app)
    }

    /// The month of subscription 1 that ends some days after the start.
    private static func month(endingOn day: Double = 2, account: UInt64 = 1) -> SubscriberFact {
        Sample.transaction("1", of: "1", start - 30, start + day) { $0.appAccountToken = Sample.token(account) }
    }

    private static func redemptions(_ store: any SubscriberStore) async throws -> [LedgerRedemption] {
        try await store.ledgerEntries(of: [account], in: Sample.production).redemptions
    }

    /// A period of subscription 1 that begins with the offer.
    private func redeemed(
        _ id: String = "2", of original: String = "1", on day: Double, offer: String = "half", account: UInt64? = 1
    ) -> SubscriberFact {
        Sample.transaction(id, of: original, day, day + 30) {
            $0.offer = AppliedOffer(type: .promotional, identifier: offer, discountType: .payAsYouGo)
            $0.appAccountToken = account.map(Sample.token)
        }
    }

    private func states(_ store: any SubscriberStore) async throws -> [Authorisation.State] {
        try await store.ledgerEntries(of: [Self.account], in: Sample.production).authorisations.map(\.state)
    }

    @Test(
        "a signature is reserved while the limits allow it, and again when it has expired", arguments: StoreEngine.all)
    func reserves(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let first = try await store.reserveOne(reservation(1))
            #expect(first == .reserved)
            #expect(try await store.reserveOne(reservation(2)) == .refused([.outstanding]))
            #expect(try await store.reserveOne(reservation(3, offer: "other")) == .reserved, "another offer")
            #expect(try await store.reserveOne(reservation(4, in: Sample.sandbox)) == .reserved, "another environment")
            #expect(try await store.reserveOne(reservation(5, at: Self.start + 1)) == .reserved)
            #expect(try await states(store) == [.outstanding, .outstanding, .outstanding])
        }
    }

    @Test("offers that repeat in one request are counted as in several requests", arguments: StoreEngine.all)
    func repeats(engine: StoreEngine) async throws {
        let limits = [
            OfferLimits(perCustomer: .init(count: 1)), OfferLimits(outstanding: 2),
            OfferLimits(perCustomer: .init(count: 3), outstanding: 2), OfferLimits(total: 2, outstanding: 5),
        ]
        for limits in limits {
            var answers: [[LedgerResult]] = []
            for isOneRequest in [true, false] {
                try await engine.withStore { store in
                    let offers = (1...4).map {
                        Sample.offer("half", limits, nonces: [2 * $0, 2 * $0 + 1], expiresAt: Self.start + 1)
                    }
                    var given: [LedgerResult] = []
                    for part in isOneRequest ? [offers] : offers.map({ [$0] }) {
                        given += try await store.reserve(Sample.request(part, at: Self.start))
                    }
                    answers.append(given)
                }
            }
            #expect(answers[0] == answers[1], "\(limits)")
            #expect(answers[0].contains(.refused([.outstanding])), "\(answers)")
        }
    }

    @Test("what was withdrawn holds no slot", arguments: StoreEngine.all)
    func withdraws(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let first = reservation(1)
            _ = try await store.reserveOne(first)
            try await store.withdraw(first.offers[0].nonces, in: Sample.production)
            #expect(try await store.reserveOne(reservation(2)) == .reserved)
            #expect(try await states(store) == [.withdrawn, .outstanding])
        }
    }

    @Test(
        "a redemption closes the oldest authorisation, and counts toward the cap from then on",
        arguments: StoreEngine.all)
    func closes(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let limits = OfferLimits(perCustomer: .init(count: 1, every: .days(100)), outstanding: 2)
            for number in 1...2 {
                #expect(try await store.reserveOne(reservation(UInt64(number), limits)) == .reserved)
            }
            try await store.merge([redeemed(on: Self.start + 0.1)], in: Sample.production)
            #expect(try await states(store) == [.redeemed, .outstanding])
            #expect(try await store.reserveOne(reservation(3, limits, at: Self.start + 50)) == .refused([.customerCap]))
            #expect(try await store.reserveOne(reservation(4, limits, at: Self.start + 101)) == .reserved)
            #expect(try await store.unexplainedRedemptions().isEmpty)
        }
    }

    @Test(
        "trap 35: an offer shows in the renewal info first and in a transaction later, and counts once",
        arguments: StoreEngine.all)
    func countsOnce(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let limits = OfferLimits(perCustomer: .init(count: 2))
            try await store.merge([Self.month()], in: Sample.production)
            _ = try await store.reserveOne(reservation(1, limits))
            let announced = Sample.renewal(of: "1", signed: Self.start + 0.2) {
                $0.offer = AppliedOffer(type: .promotional, identifier: "half")
            }
            for _ in 1...2 { try await store.merge([announced], in: Sample.production) }
            #expect(try await states(store) == [.redeemed])
            try await store.merge([redeemed(on: Self.start + 2)], in: Sample.production)
            // One redemption: a second one is still possible, and none is unexplained.
            #expect(try await store.reserveOne(reservation(2, limits, at: Self.start + 3)) == .reserved)
            #expect(try await store.unexplainedRedemptions().isEmpty)
        }
    }

    @Test("the same purchases under another account get no second slot", arguments: StoreEngine.all)
    func sameSubscription(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            _ = try await store.reserveOne(reservation(1))
            let subscription = CustomerIdentifier.originalTransactionID(Sample.id("1"))
            #expect(
                try await store.reserveOne(reservation(2, by: [Sample.account(2), subscription]))
                    == .refused([.outstanding]))
            #expect(try await store.reserveOne(reservation(3, by: [Sample.account(2)])) == .reserved)
            // Account 2 redeems with another subscription, and account 1 does not.
            try await store.merge([redeemed("9", of: "9", on: Self.start + 0.5, account: 2)], in: Sample.production)
            #expect(
                try await store.reserveOne(reservation(4, by: [Sample.account(2)], at: Self.start + 5))
                    == .refused([.customerCap]))
            #expect(try await store.reserveOne(reservation(5, at: Self.start + 5)) == .reserved)
        }
    }

    @Test("the cooldown counts any promotional offer of the app", arguments: StoreEngine.all)
    func cooldown(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let limits = OfferLimits(cooldown: .days(30))
            try await store.merge([redeemed(on: Self.start, offer: "other")], in: Sample.production)
            #expect(try await store.reserveOne(reservation(1, limits, at: Self.start + 29)) == .refused([.cooldown]))
            #expect(try await store.reserveOne(reservation(2, limits, at: Self.start + 30)) == .reserved)
        }
    }

    @Test("64 customers race for the last of ten, and nobody gets one too many", arguments: StoreEngine.all)
    func race(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let limits = OfferLimits(total: 10)
            let outcomes = try await withThrowingTaskGroup(of: LedgerResult.self) { group in
                for number in 1...64 {
                    let reservation = self.reservation(UInt64(number), by: [Sample.account(UInt64(number))], limits)
                    group.addTask { try await store.reserveOne(reservation) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.count { $0 == .reserved } == 10)
            #expect(outcomes.count { $0 == .refused([.totalCap]) } == 54)
            let later = reservation(99, by: [Sample.account(99)], limits, at: Self.start + 1)
            #expect(try await store.reserveOne(later) == .reserved, "all have expired")
        }
    }

    @Test("a redemption that no authorisation explains is listed until it is acknowledged", arguments: StoreEngine.all)
    func unexplained(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            // Before the ledger existed, and after.
            try await store.merge(
                [redeemed("2", on: 10), redeemed("3", of: "3", on: Self.start)], in: Sample.production)
            let found = try await store.unexplainedRedemptions()
            #expect(found.map(\.at) == [Sample.day(Self.start)] && found.first?.app == Sample.production)
            // An authorisation of a later time explains nothing.
            _ = try await store.reserveOne(
                reservation(1, by: [.originalTransactionID(Sample.id("3"))], OfferLimits(), at: Self.start + 2))
            try await store.merge([redeemed("3", of: "3", on: Self.start)], in: Sample.production)
            #expect(try await store.unexplainedRedemptions().count == 1)
            let number = try #require(found.first).number
            let acknowledgement = Acknowledgement(number, at: Sample.day(Self.start + 1), by: "Ada", note: "a test")
            #expect(try await store.acknowledge(acknowledgement))
            #expect(
                try await store.acknowledge(Acknowledgement(number, at: Sample.day(Self.start + 2), by: nil, note: nil))
                    == false, "the first one stays")
            let acknowledged = try await store.acknowledgedRedemptions(in: [Sample.production], limit: 9)
            #expect(acknowledged.map(\.acknowledgement) == [acknowledgement])
            #expect(acknowledged.map(\.redemption.number) == [number])
            #expect(try await store.acknowledgedRedemptions(in: [Sample.sandbox], limit: 9).isEmpty)
            #expect(try await store.unexplainedRedemptions().isEmpty)
        }
    }

    @Test("an expired authorisation still explains a redemption that becomes known late", arguments: StoreEngine.all)
    func late(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            _ = try await store.reserveOne(reservation(1))
            // The slot is free and taken by another signature before the App Store reports what was done with the first.
            _ = try await store.reserveOne(reservation(2, at: Self.start + 3))
            try await store.merge([redeemed(on: Self.start + 0.9)], in: Sample.production)
            #expect(try await states(store) == [.redeemed, .outstanding])
            #expect(try await store.unexplainedRedemptions().isEmpty)
        }
    }

    @Test("an export contains the ledger, and the other store counts the same", arguments: StoreEngine.all)
    func moves(engine: StoreEngine) async throws {
        let (records, lines) = try await engine.withStore { store in
            _ = try await store.reserveOne(reservation(1))
            _ = try await store.reserveOne(reservation(2, offer: "other"))
            try await store.merge([redeemed(on: Self.start + 0.1)], in: Sample.production)
            let records = NIOLockedValueBox<[StoreRecord]>([])
            try await store.forEachRecord { record throws(StoreError) in records.withLockedValue { $0.append(record) } }
            return (records.withLockedValue { $0 }, try await store.records())
        }
        try await engine.withStore { store in
            for _ in 1...2 { try await store.add(records) }
            #expect(try await states(store) == [.redeemed, .outstanding])
            #expect(try await store.unexplainedRedemptions().isEmpty)
            #expect(try await store.reserveOne(reservation(3, at: Self.start + 9)) == .refused([.customerCap]))
            #expect(try await store.records() == lines)
        }
    }

    /// Two forms of one answer.
    private func forms(
        _ nonces: [UInt64], _ limits: OfferLimits, by account: UInt64 = 1, at day: Double = start
    ) -> LedgerRequest {
        Sample.request(
            [Sample.offer("half", limits, nonces: nonces, expiresAt: day + 1)], by: [Sample.account(account)], at: day)
    }

    @Test(
        "under a strict cap of one, an answer has one form, so a second redemption needs a second slot",
        arguments: StoreEngine.all)
    func oneForm(engine: StoreEngine) async throws {
        for limits in [OfferLimits(perCustomer: .init(count: 1)), OfferLimits(total: 1)] {
            try await engine.withStore { store in
                #expect(try await store.reserveOne(forms([1, 2], limits)) == .reservedFirst)
                #expect(try await states(store) == [.outstanding], "the other form is not made")
                #expect(
                    try await store.reserveOne(forms([3, 4], limits, at: Self.start + 0.1)) == .refused([.outstanding]))
                try await store.merge([redeemed(on: Self.start + 0.2)], in: Sample.production)
                #expect(try await states(store) == [.redeemed])
                let other = forms([5, 6], limits, by: limits.total == nil ? 1 : 2, at: Self.start + 0.3)
                #expect(
                    try await store.reserveOne(other)
                        == .refused([limits.total == nil ? .customerCap : .totalCap]))
            }
        }
    }

    @Test("under a cap, each form of an answer counts and takes a slot", arguments: StoreEngine.all)
    func eachForm(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let limits = OfferLimits(perCustomer: .init(count: 5), total: 3, outstanding: 2)
            #expect(try await store.reserveOne(forms([1, 2], limits)) == .reserved)
            #expect(try await store.reserveOne(forms([3, 4], limits)) == .refused([.outstanding]))
            // Two of three slots are held.
            #expect(try await store.reserveOne(forms([5, 6], limits, by: 2)) == .reservedFirst)
            #expect(try await store.reserveOne(forms([7], limits, by: 3)) == .refused([.totalCap]))
            try await store.merge([redeemed(on: Self.start + 0.1)], in: Sample.production)
            try await store.merge([redeemed("3", of: "3", on: Self.start + 0.2)], in: Sample.production)
            try await store.merge([redeemed("4", of: "4", on: Self.start + 0.3, account: 2)], in: Sample.production)
            #expect(try await states(store) == [.redeemed, .redeemed])
            #expect(try await store.unexplainedRedemptions().isEmpty)
            #expect(
                try await store.reserveOne(forms([8], limits, at: Self.start + 0.4)) == .refused([.totalCap]),
                "three are redeemed, and never a fourth")
        }
    }

    @Test(
        "without a cap, two forms of one answer count as one signature, and each explains a redemption",
        arguments: StoreEngine.all)
    func twins(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let limits = OfferLimits(outstanding: 2)
            #expect(try await store.reserveOne(forms([1, 2], limits)) == .reserved)
            #expect(try await store.reserveOne(forms([3, 4], limits)) == .reserved)
            #expect(try await store.reserveOne(forms([5], limits)) == .refused([.outstanding]))
            try await store.merge([redeemed(on: Self.start + 0.1)], in: Sample.production)
            #expect(try await states(store) == [.redeemed, .outstanding, .outstanding, .outstanding])
            // The other form can still be used, so it counts on.
            #expect(try await store.reserveOne(forms([6], limits, at: Self.start + 0.2)) == .refused([.outstanding]))
            try await store.merge([redeemed("3", of: "3", on: Self.start + 0.3)], in: Sample.production)
            #expect(try await states(store) == [.redeemed, .redeemed, .outstanding, .outstanding])
            #expect(try await store.unexplainedRedemptions().isEmpty)
            #expect(try await store.reserveOne(forms([7], limits, at: Self.start + 0.4)) == .reserved)
            let records = try await store.records()
            #expect(records.contains { $0.contains(#""twin""#) })
        }
    }

    @Test("of several offers, the first that the limits allow is reserved, in one step", arguments: StoreEngine.all)
    func firstOfSeveral(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            func request(_ nonces: [UInt64], _ reserving: LedgerRequest.Reserving) -> LedgerRequest {
                let offers = zip(["half", "other", "third"], nonces).map {
                    Sample.offer($0, nonces: [$1], expiresAt: Self.start + 1)
                }
                return Sample.request(offers, at: Self.start, reserving: reserving)
            }
            let asked = try await store.reserve(request([1, 2, 3], .nothing))
            #expect(asked == [.allowed, .allowed, .allowed])
            #expect(try await states(store).isEmpty)
            #expect(try await store.reserve(request([1, 2, 3], .first)) == [.reserved, .allowed, .allowed])
            #expect(
                try await store.reserve(request([4, 5, 6], .first)) == [
                    .refused([.outstanding]), .reserved, .allowed,
                ])
            #expect(
                try await store.reserve(request([7, 8, 9], .all))
                    == [.refused([.outstanding]), .refused([.outstanding]), .reserved])
        }
    }

    @Test("facts are merged in the same step, before the limits are checked", arguments: StoreEngine.all)
    func mergesFirst(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let request = LedgerRequest(
                app: Sample.production, facts: [redeemed(on: Self.start)], holders: [Self.account],
                offers: [Sample.offer(nonces: [1], expiresAt: Self.start + 1)], reserving: .all,
                at: Sample.day(Self.start + 1))
            #expect(try await store.reserveOne(request) == .refused([.customerCap]))
            let redemptions = try await Self.redemptions(store)
            #expect(redemptions.map(\.offerID) == ["half"] && redemptions[0].authorisedAt == nil)
            #expect(redemptions[0].originalTransactionID == Sample.id("1"))
        }
    }

    @Test("the App Store is asked before an unused signature gives its slot back", arguments: StoreEngine.all)
    func asksBefore(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let purchase = Sample.transaction("1", of: "1", Self.start - 1, Self.start + 29)
            let renewal = Sample.renewal(of: "1", signed: Self.start - 1)
            try await store.merge([purchase, renewal], in: Sample.production)
            func due(_ day: Double) async throws -> [TransactionID] {
                try await store.claimDueSubscriptions(
                    of: Sample.production, dueBefore: Sample.day(day), nextDueAt: Sample.day(day + 0.01), limit: 9
                ).map(\.originalTransactionID)
            }
            _ = try await store.reserveOne(reservation(1))
            // The signature is worthless two hours before the slot is free.
            #expect(try await due(Self.start + 0.9).isEmpty)
            #expect(try await due(Self.start + 0.92) == [Sample.id("1")])
            // What the App Store says then ends the question, although the slot is not free yet.
            try await store.merge([Sample.renewal(of: "1", signed: Self.start + 0.93)], in: Sample.production)
            #expect(try await due(Self.start + 2).isEmpty)
        }
    }

    @Test(
        "a second redemption after a gap counts, and an older one that becomes known late moves none",
        arguments: StoreEngine.all)
    func afterGap(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let limits = OfferLimits(perCustomer: .init(count: 2))
            _ = try await store.reserveOne(reservation(1, limits))
            try await store.merge([redeemed("5", on: Self.start + 0.1)], in: Sample.production)
            #expect(try await store.unexplainedRedemptions().isEmpty)
            // It was redeemed long before too, and the customer had left in between.
            try await store.merge([redeemed("2", on: Self.start - 200)], in: Sample.production)
            #expect(try await store.unexplainedRedemptions().isEmpty, "the later one keeps its signature")
            let times = try await Self.redemptions(store).map(\.at)
            #expect(times == [Sample.day(Self.start + 0.1), Sample.day(Self.start - 200)])
            #expect(try await store.reserveOne(reservation(2, limits, at: Self.start + 2)) == .refused([.customerCap]))
        }
    }

    @Test(
        "a repeat that is announced and then replaced by another offer counts, and facts in any order count the same",
        arguments: StoreEngine.all)
    func replacedRepeat(engine: StoreEngine) async throws {
        func announced(_ offer: String, _ day: Double) -> SubscriberFact {
            Sample.renewal(of: "1", signed: Self.start + day) {
                $0.offer = AppliedOffer(type: .promotional, identifier: offer)
            }
        }
        let regular = Sample.transaction("3", of: "1", Self.start + 30, Self.start + 60) {
            $0.appAccountToken = Sample.token(1)
        }
        try await engine.withStore { store in
            for fact in [redeemed(on: Self.start), regular, announced("half", 40), announced("other", 41)] {
                try await store.merge([fact], in: Sample.production)
            }
            #expect(try await Self.redemptions(store).map(\.offerID).sorted() == ["half", "half", "other"])
        }
        // Periods of one offer that arrive in the wrong order are one redemption.
        try await engine.withStore { store in
            for (id, day) in [("4", 100.0), ("2", 0), ("3", 50)] {
                try await store.merge([redeemed(id, on: Self.start + day)], in: Sample.production)
            }
            #expect(try await Self.redemptions(store).map(\.at) == [Sample.day(Self.start)])
        }
    }

    @Test("the other form of a used signature explains nothing once it is worthless", arguments: StoreEngine.all)
    func worthlessTwin(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            #expect(try await store.reserveOne(forms([1, 2], OfferLimits())) == .reserved)
            try await store.merge([redeemed(on: Self.start + 0.1)], in: Sample.production)
            try await store.merge([redeemed("9", of: "9", on: Self.start + 2)], in: Sample.production)
            #expect(try await store.unexplainedRedemptions().map(\.at) == [Sample.day(Self.start + 2)])
        }
    }

    @Test(
        "an offer is exempt while it is signed without the ledger, and for a day after; what was expected stays so",
        arguments: StoreEngine.all)
    func exemptions(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let offer = LedgerOffer(
                app: Sample.production, productID: try ProductID(utf8: Array("monthly".utf8)),
                offerID: try OfferID(utf8: Array("half".utf8)))
            let apps: Set<AppScope> = [Sample.production]
            func begin(_ coverage: LedgerCoverage, _ day: Double) async throws {
                try await store.beginLedger(coverage, at: Sample.day(Self.start + day))
            }
            func alarms() async throws -> [Timestamp] {
                try await store.unexplainedRedemptions(in: apps, limit: 9).map(\.at)
            }
            func redeem(_ original: String, _ day: Double) async throws {
                try await store.merge(
                    [redeemed(original, of: original, on: Self.start + day)], in: Sample.production)
            }
            try await begin(LedgerCoverage(apps: apps, decided: [offer]), 0)
            try await redeem("2", 1)
            let first = Sample.day(Self.start + 1)
            #expect(try await alarms() == [first])
            // The configuration without the offer, and back: nothing is forgotten, and what happens meanwhile is expected.
            try await begin(LedgerCoverage(apps: apps), 2)
            try await redeem("3", 3)
            try await begin(LedgerCoverage(apps: apps, decided: [offer]), 4)
            #expect(try await alarms() == [first, Sample.day(Self.start + 3)])
            // It has no rule for a while.
            try await begin(LedgerCoverage(apps: apps, exempt: [offer]), 5)
            #expect(try await alarms().isEmpty)
            try await redeem("4", 6)
            try await begin(LedgerCoverage(apps: apps, decided: [offer]), 7)
            try await redeem("5", 7.9)
            try await redeem("6", 8)
            #expect(
                try await alarms() == [first, Sample.day(Self.start + 3), Sample.day(Self.start + 8)])
            // An app that is not configured raises no alarm.
            #expect(try await store.unexplainedRedemptions(in: [Sample.sandbox], limit: 9).isEmpty)
        }
    }

    @Test("an offer that nobody has configured needs an authorisation too", arguments: StoreEngine.all)
    func unlisted(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            try await store.beginLedger(LedgerCoverage(apps: [Sample.production]), at: Sample.day(Self.start))
            try await store.merge([redeemed("2", on: Self.start - 1, offer: "early")], in: Sample.production)
            try await store.merge([redeemed("3", of: "3", on: Self.start, offer: "secret")], in: Sample.production)
            let found = try await store.unexplainedRedemptions(in: [Sample.production], limit: 9)
            #expect(found.map(\.offerID) == ["secret"])
        }
    }

    @Test("redemptions are listed in the order in which they were recorded", arguments: StoreEngine.all)
    func lists(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            #expect(try await store.lastRedemption() == 0)
            _ = try await store.reserveOne(reservation(1))
            try await store.merge([redeemed(on: Self.start + 0.1)], in: Sample.production)
            try await store.merge([redeemed("9", of: "9", on: Self.start, account: 2)], in: Sample.sandbox)
            let all = try await store.redemptions(after: 0, limit: 9)
            #expect(all.map(\.authorisedAt) == [Sample.day(Self.start), nil])
            #expect(all.map(\.app) == [Sample.production, Sample.sandbox])
            #expect(try await store.lastRedemption() == all[1].number)
            #expect(try await store.redemptions(after: all[0].number, limit: 9) == [all[1]])
        }
    }

    @Test("an erasure forgets who held what; the total stays", arguments: StoreEngine.all)
    func erasure(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let limits = OfferLimits(total: 1)
            _ = try await store.reserveOne(reservation(1, limits))
            try await store.merge([redeemed(on: Self.start + 0.1)], in: Sample.production)
            _ = try await store.erase(Self.account, in: Sample.production)
            #expect(try await states(store).isEmpty)
            let other = reservation(2, by: [Sample.account(2)], limits, at: Self.start + 9)
            #expect(try await store.reserveOne(other) == .refused([.totalCap]))
        }
    }

    @Test(
        "the rest of an offer of several months is the same redemption after an erasure, and a later one is new",
        arguments: StoreEngine.all)
    func erasedDuringOffer(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let limits = OfferLimits(total: 2)
            _ = try await store.reserveOne(reservation(1, limits))
            try await store.merge([redeemed("2", on: Self.start + 0.1)], in: Sample.production)
            _ = try await store.erase(Self.account, in: Sample.production)
            // The second and the third month arrive, and the first one is reported again.
            for (id, day) in [("3", 30.1), ("4", 60.1), ("2", 0.1)] {
                try await store.merge([redeemed(id, on: Self.start + day)], in: Sample.production)
                #expect(try await store.unexplainedRedemptions().isEmpty, "\(id)")
            }
            let other = reservation(2, by: [Sample.account(2)], limits, at: Self.start + 61)
            #expect(try await store.reserveOne(other) == .reserved, "one of two slots is left")
            try await store.merge([redeemed("9", on: Self.start + 400)], in: Sample.production)
            #expect(try await store.unexplainedRedemptions().map(\.at) == [Sample.day(Self.start + 400)])
        }
    }

    @Test("a signature that an erased customer still has explains its redemption", arguments: StoreEngine.all)
    func erasedWhileHolding(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            try await store.merge([Self.month()], in: Sample.production)
            _ = try await store.reserveOne(reservation(1))
            _ = try await store.erase(Self.account, in: Sample.production)
            #expect(try await states(store).isEmpty)
            #expect(try await store.records().allSatisfy { !$0.contains(Sample.token(1).description) })
            try await store.merge([redeemed(on: Self.start + 0.5)], in: Sample.production)
            #expect(try await store.unexplainedRedemptions().isEmpty)
        }
    }

    @Test(
        "a redemption stays in the total when one of two accounts of its subscription is erased",
        arguments: StoreEngine.all)
    func partialErasure(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let limits = OfferLimits(total: 1)
            _ = try await store.reserveOne(reservation(1, limits))
            let other = Self.month(endingOn: 0, account: 2)
            try await store.merge([other, redeemed(on: Self.start + 0.1)], in: Sample.production)
            _ = try await store.erase(Self.account, in: Sample.production)
            let third = reservation(2, by: [Sample.account(3)], limits, at: Self.start + 9)
            #expect(try await store.reserveOne(third) == .refused([.totalCap]))
            // The same period, reported again without the account, is the same redemption.
            try await store.merge([redeemed(on: Self.start + 0.1, account: nil)], in: Sample.production)
            #expect(try await store.unexplainedRedemptions().isEmpty)
            #expect(try await store.lastRedemption() == 1)
        }
    }
}

extension SubscriberStore {
    /// Reserves one offer.
    fileprivate func reserveOne(_ request: LedgerRequest) async throws -> LedgerResult {
        try #require(try await reserve(request).first)
    }

    fileprivate func unexplainedRedemptions() async throws -> [LedgerRedemption] {
        let apps: Set<AppScope> = [Sample.production]
        try await beginLedger(LedgerCoverage(apps: apps), at: Sample.day(LedgerTests.start))
        return try await unexplainedRedemptions(in: apps, limit: 9)
    }
}
