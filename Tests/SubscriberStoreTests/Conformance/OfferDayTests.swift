import NIOConcurrencyHelpers
import OfferCore
import OfferEligibility
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

/// The counters that the console shows.
@Suite("A store counts by day and by campaign")
struct OfferDayTests {
    private static let offers = ["half", "third"]

    /// Lets a customer live through random events. The numbers of customers must differ between tasks.
    private static func live(_ number: UInt64, _ store: any SubscriberStore) async throws {
        var random = SplitMix64(seed: number)
        let account = Sample.account(number)
        var day = 1000.0
        var nonce = number * 1000
        var transaction = number * 1000
        for _ in 0..<12 {
            day += Double.random(in: 0..<2, using: &random)
            let offer = offers[Int.random(in: 0..<2, using: &random)]
            switch Int.random(in: 0..<7, using: &random) {
            case 0...2:
                nonce += 2
                let isHeldOut = Bool.random(using: &random)
                let exposure = Sample.exposure(
                    of: account, isHeldOut ? .heldOut : .offered, offer, sample: "s", at: day)
                let wanted = Sample.offer(
                    offer, OfferLimits(), nonces: Array(nonce..<(nonce + 2)), expiresAt: day + 1,
                    exposures: isHeldOut ? [] : [exposure])
                let heldOut = LedgerRequest.HeldOutOffer(
                    productID: wanted.productID, offerID: wanted.offerID, limits: OfferLimits(), place: 0,
                    exposures: [exposure])
                _ = try await store.reserve(
                    LedgerRequest(
                        app: Sample.production,
                        facts: [
                            Sample.transaction("\(number)", of: "\(number)", 999, 1100) {
                                $0.appAccountToken = Sample.token(number)
                            }
                        ], holders: [account], offers: [wanted], reserving: .all, heldOut: isHeldOut ? [heldOut] : [],
                        at: Sample.day(day)))
            case 3:
                try await store.withdraw([Sample.nonce(nonce)], in: Sample.production)
            case 4:
                // The redemption shows in the renewal info first, and moves when its period begins.
                let announced = Sample.renewal(of: "\(number)", signed: day) {
                    $0.offer = AppliedOffer(type: .promotional, identifier: offer, discountType: .payAsYouGo)
                    $0.renewalDate = Sample.day(day + 3)
                }
                try await store.merge([announced], in: Sample.production)
            case 5:
                transaction += 1
                let period = Sample.transaction("\(transaction)", of: "\(number)", day + 3, day + 33) {
                    $0.offer = AppliedOffer(type: .promotional, identifier: offer, discountType: .payAsYouGo)
                    $0.appAccountToken = Sample.token(number)
                }
                try await store.merge([period], in: Sample.production)
            default:
                guard Int.random(in: 0..<4, using: &random) == 0 else { continue }
                _ = try await store.erase(account, in: Sample.production)
            }
        }
    }

    /// The counts of every row that can be exported, by kind, offer and day.
    private static func rows(_ store: any SubscriberStore) async throws -> [String: Int64] {
        let found = NIOLockedValueBox<[String: Int64]>([:])
        @Sendable func add(_ kind: String, _ offer: String, _ time: Timestamp) {
            found.withLockedValue { $0["\(kind) \(offer) \(time.milliseconds / 86_400_000)", default: 0] += 1 }
        }
        try await store.forEachRecord { record throws(StoreError) in
            switch record {
            case .authorisation(_, let entry) where entry.authorisation.state != .withdrawn:
                add("signed", entry.authorisation.offerID.text.description, entry.authorisation.at)
            default: break
            }
        }
        for redemption in try await store.redemptions(after: 0, limit: 100_000) {
            add("redeemed", redemption.offerID, redemption.at)
        }
        return found.withLockedValue(\.self)
    }

    private static func counted(_ store: any SubscriberStore) async throws -> [String: Int64] {
        var counts: [String: Int64] = [:]
        for activity in try await store.offerActivity(since: Sample.day(0)) {
            for (day, count) in activity.signedByDay where count != 0 {
                counts["signed \(activity.offerID) \(day)"] = count
            }
            for (day, count) in activity.redeemedByDay where count != 0 {
                counts["redeemed \(activity.offerID) \(day)"] = count
            }
        }
        return counts
    }

    @Test(
        "after signatures, withdrawals, redemptions and erasures of many customers at once, the counters equal the rows",
        arguments: StoreEngine.all)
    func histories(engine: StoreEngine) async throws {
        let records = try await engine.withSharedStore { stores in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...60 as ClosedRange<UInt64> {
                    group.addTask { try await Self.live(number, stores[Int(number % 2)]) }
                }
                try await group.waitForAll()
            }
            let counted = try await Self.counted(stores[0])
            #expect(counted == (try await Self.rows(stores[1])))
            #expect(counted.values.reduce(0, +) > 200 && counted.keys.contains { $0.hasPrefix("redeemed") })
            #expect(try await stores[0].check() == [])
            let records = NIOLockedValueBox<[StoreRecord]>([])
            try await stores[0].forEachRecord { record throws(StoreError) in
                records.withLockedValue { $0.append(record) }
            }
            return records.withLockedValue(\.self)
        }
        try await engine.withStore { store in
            for _ in 1...2 { try await store.add(records) }
            #expect(try await Self.counted(store) == (try await Self.rows(store)), "after an import, twice")
            #expect(try await store.check() == [])
        }
    }

    @Test("what is read again and is no redemption any more does not count", arguments: StoreEngine.all)
    func rederived(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let period = Sample.transaction("2", of: "1", 1000, 1030) {
                $0.offer = AppliedOffer(type: .promotional, identifier: "half", discountType: .payAsYouGo)
            }
            _ = try await store.apply(Sample.delivery("n1", [Sample.transaction("1", of: "1", 970, 1000), period]))
            #expect(try await Self.counted(store).count == 1)
            let payload = try #require(try await store.payloads(after: nil, limit: 9).first)
            _ = try await store.rederive([Sample.reread(payload, [], silent: [period.digest])])
            #expect(try await Self.counted(store) == [:])
            #expect(try await store.check() == [])
        }
    }

    @Test("the exposures of both arms count from the requested day", arguments: StoreEngine.all)
    func exposures(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let arms: [(Exposure.Arm, Double)] = [(.offered, 1), (.offered, 3), (.heldOut, 3), (.offered, 4)]
            let records = zip(1..., arms).map { number, arm in
                StoreRecord.exposure(
                    Sample.production, Sample.exposure(of: Sample.account(number), arm.0, sample: "s", at: arm.1))
            }
            for _ in 1...2 { try await store.add(records) }
            let activity = try await store.offerActivity(since: Sample.day(2))
            #expect(activity.map(\.offered) == [2] && activity.map(\.heldOut) == [1])
            #expect(try await store.check() == [])
        }
    }

    @Test("links and their claims count by campaign, and stay when a customer is erased", arguments: StoreEngine.all)
    func links(engine: StoreEngine) async throws {
        try await engine.withSharedStore { stores in
            let offer = Sample.offer("back", nonces: [], expiresAt: 0)
            let mailing = Mailing(
                campaign: "spring", offer: Campaign.Offer(productID: offer.productID, offerID: offer.offerID),
                holdOut: 0.5, madeAt: Sample.day(1), expiresAt: Sample.day(11), rulesDigest: [1])
            let links = try await stores[0].make(mailing, for: (1...40).map(Sample.account), in: Sample.production)
            let sent = links.filter { $0.arm == .offered }
            for link in sent.prefix(3) {
                _ = try await stores[1].claim(link, in: Sample.production, at: Sample.day(2))
            }
            _ = try await stores[0].claim(sent[0], in: Sample.production, at: Sample.day(3))
            _ = try await stores[1].erase(Sample.account(1), in: Sample.production)
            let counts = try #require(try await stores[0].linkCounts(in: Sample.production)["spring"])
            #expect(counts.made == Int64(sent.count) && counts.heldOut == Int64(40 - sent.count))
            #expect(counts.claimed == 3)
            #expect(try await stores[1].check() == [])
        }
    }
}
