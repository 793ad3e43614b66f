import OfferCore
import OfferEligibility
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@Suite("A store keeps the personal links of campaigns")
struct LinkStoreTests {
    private static func mailing(_ campaign: String = "spring", holdOut: Double = 0, at day: Double = 1) -> Mailing {
        let sample = Sample.offer("back", nonces: [], expiresAt: 0)
        return Mailing(
            campaign: campaign, offer: Campaign.Offer(productID: sample.productID, offerID: sample.offerID),
            holdOut: holdOut, madeAt: Sample.day(day), expiresAt: Sample.day(day + 10), rulesDigest: [1])
    }

    private static func make(
        _ count: UInt64 = 1, _ mailing: Mailing = mailing(), in store: any SubscriberStore
    ) async throws -> [MailedLink] {
        try await store.make(mailing, for: (1...count).map(Sample.account), in: Sample.production)
    }

    @Test("links are made once, each with one exposure, and a share is left out", arguments: StoreEngine.all)
    func made(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let links = try await Self.make(100, Self.mailing(holdOut: 0.5), in: store)
            let heldOut = links.count { $0.arm == .heldOut }
            #expect((25...75).contains(heldOut) && Set(links.map(\.id)).count == 100)
            let later = try await Self.make(100, Self.mailing(holdOut: 0, at: 5), in: store)
            #expect(later == links, "a known link stays as it is")
            let other = try await Self.make(100, Self.mailing("autumn", holdOut: 0.5), in: store)
            #expect(zip(links, other).contains { $0.arm != $1.arm }, "each campaign draws for itself")
            #expect(try await store.link(links[0].id, in: Sample.production) == links[0])
            #expect(try await store.link(links[0].id, in: Sample.sandbox) == nil)
            let lines = try await store.records()
            #expect(lines.count { $0.contains(#""record":"exposure""#) } == 200)
            let counts = try #require(try await store.linkCounts(in: Sample.production)["spring"])
            #expect(counts.made == Int64(100 - heldOut) && counts.heldOut == Int64(heldOut))
            #expect(try await store.linkCounts(in: Sample.sandbox) == [:])
        }
    }

    @Test("1,000 claims of one link at once give one grant", arguments: StoreEngine.all)
    func race(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let link = try #require(try await Self.make(in: store).first)
            let times = try await withThrowingTaskGroup(of: Timestamp?.self) { group in
                for number in 0..<1000 {
                    group.addTask {
                        let now = Sample.day(2) + .milliseconds(number)
                        return try await store.claim(link, in: Sample.production, at: now)?.claimedAt
                    }
                }
                return try await group.reduce(into: Set<Timestamp?>()) { $0.insert($1) }
            }
            #expect(times.count == 1 && !times.contains(nil), "the first claim counts")
            let lines = try await store.records()
            #expect(lines.count { $0.contains(#""record":"grant""#) } == 1)
            let grant = try await store.grant(try #require(link.grant).id)
            #expect(grant?.grant == link.grant && grant?.grant.campaign == "spring")
            #expect(try await store.linkCounts(in: Sample.production)["spring"]?.claimed == 1)
        }
    }

    @Test("a customer who was held out or erased cannot claim", arguments: StoreEngine.all)
    func nothing(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            try await store.merge(Sample.facts(1), in: Sample.production)
            let link = try #require(try await Self.make(in: store).first)
            let all = try await Self.make(100, Self.mailing("autumn", holdOut: 0.5), in: store)
            let heldOut = try #require(all.first { $0.arm == .heldOut })
            #expect(try await store.claim(heldOut, in: Sample.production, at: Sample.day(2)) == nil)
            #expect(try await store.claim(link, in: Sample.sandbox, at: Sample.day(2)) == nil, "unknown")
            _ = try await store.erase(Sample.account(1), in: Sample.production)
            #expect(try await store.claim(link, in: Sample.production, at: Sample.day(2)) == nil)
            #expect(try await store.grants(in: Sample.production, .all, before: nil, limit: 10) == [])
            let again = try #require(try await Self.make(in: store).first)
            #expect(again.id == link.id && again.subject.customer == nil, "an erased customer gets no second link")
            #expect(try await store.linkCounts(in: Sample.production)["spring"]?.made == 1, "it still counts")
        }
    }

    @Test("a withdrawn grant is not given again by another claim", arguments: StoreEngine.all)
    func withdrawn(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let link = try #require(try await Self.make(in: store).first)
            _ = try await store.claim(link, in: Sample.production, at: Sample.day(2))
            let id = try #require(link.grant?.id)
            _ = try await store.withdraw(id, OfferGrant.Act(by: OfferGrant.Person("Bob"), at: Sample.day(3)))
            _ = try await store.claim(link, in: Sample.production, at: Sample.day(4))
            #expect(try await store.grant(id)?.grant.isInForce(at: Sample.day(4)) == false)
        }
    }

    @Test("an export has the links and the visits, and an import can be repeated", arguments: StoreEngine.all)
    func exported(engine: StoreEngine) async throws {
        try await engine.withStore { store in
            let links =
                try await Self.make(3, in: store) + Self.make(20, Self.mailing("autumn", holdOut: 0.5), in: store)
            _ = try await store.claim(links[0], in: Sample.production, at: Sample.day(2))
            let visits = [
                LinkVisits(campaign: "spring", day: 20_000, isPersonal: true, count: 3),
                LinkVisits(campaign: "spring", day: 20_000, isPersonal: false, count: 5),
            ]
            for _ in 1...2 { try await store.addVisits(visits, in: Sample.production) }
            #expect(try await store.linkCounts(in: Sample.production)["spring"]?.personalVisits == 6)
            #expect(try await store.linkCounts(in: Sample.production)["spring"]?.campaignVisits == 10)
            let lines = try await store.records()
            try await engine.withStore { copy in
                try await copy.add([.mailedLink(Sample.production, links[0])])
                for _ in 1...2 {
                    let export = Lines()
                    _ = try await StoreExport(of: store).run { line, _ in export.add(Array(line.dropLast())) }
                    var rest = export.all[...]
                    _ = try await StoreImport(into: copy).run {
                        rest.popFirst()
                    } progress: { _ in
                    }
                    #expect(try await copy.records() == lines)
                }
                #expect(try await Self.make(3, in: copy) == Self.make(3, in: store), "no customer gets a second link")
                #expect(
                    try await copy.linkCounts(in: Sample.production) == store.linkCounts(in: Sample.production))
            }
        }
    }
}
