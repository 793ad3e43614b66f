import OfferCore
import OfferEligibility
import TestSupport
import Testing

@testable import HistoryTestSupport

@Suite("How often an offer may be signed")
struct LedgerViewTests {
    private func refusals(
        _ limits: OfferLimits, outstandingUntil ends: [Double] = [], redeemedOn days: [Double] = [],
        lastRedemption: Double? = nil, totalSlots: Int = 0, at now: Timestamp = .day(40)
    ) throws -> [ReasonCode] {
        try view(outstandingUntil: ends, redeemedOn: days, lastRedemption: lastRedemption, totalSlots: totalSlots)
            .refusals(under: limits, at: now)
    }

    private func view(
        outstandingUntil ends: [Double] = [], redeemedOn days: [Double] = [], lastRedemption: Double? = nil,
        totalSlots: Int = 0, heldSlots: Int = 0
    ) throws -> LedgerView {
        let authorisations = try ends.map { end in
            Authorisation(
                productID: try ProductID("monthly"), offerID: try OfferID(utf8: Array("half".utf8)),
                state: .outstanding, at: .day(end - 1), expiresAt: .day(end))
        }
        return LedgerView(
            authorisations: authorisations, redemptions: days.map { .day($0) },
            lastRedemption: (lastRedemption ?? days.max()).map { .day($0) }, totalSlots: totalSlots,
            heldSlots: heldSlots)
    }

    @Test("redemptions in the window and the signature itself count toward the customer's cap, to the millisecond")
    func perCustomer() throws {
        let limits = OfferLimits(perCustomer: .init(count: 1, every: .days(30)), outstanding: 9)
        #expect(try refusals(limits) == [])
        #expect(try refusals(limits, redeemedOn: [10], at: .day(40).before) == [.customerCap])
        #expect(try refusals(limits, redeemedOn: [10]) == [])
        #expect(try refusals(OfferLimits(perCustomer: .init(count: 1)), redeemedOn: [-999]) == [.customerCap])
        let two = OfferLimits(perCustomer: .init(count: 2), outstanding: 9)
        #expect(try refusals(two, outstandingUntil: [41], redeemedOn: [10]) == [], "it shares the slot that is held")
        #expect(try refusals(two, redeemedOn: [10, 20]) == [.customerCap])
    }

    @Test("with a cap, a customer holds one signature at a time; without one, three")
    func outstanding() throws {
        let capped = OfferLimits(perCustomer: .init(count: 5))
        #expect(try refusals(capped, outstandingUntil: [41]) == [.outstanding])
        #expect(try refusals(capped, outstandingUntil: [40]) == [], "it has just expired")
        #expect(try refusals(OfferLimits(), outstandingUntil: [41, 41]) == [])
        #expect(try refusals(OfferLimits(), outstandingUntil: [41, 41, 41]) == [.outstanding])
        #expect(try refusals(OfferLimits(outstanding: 1), outstandingUntil: [41]) == [.outstanding])
    }

    @Test("the cooldown counts from the last redemption of any offer")
    func cooldown() throws {
        let limits = OfferLimits(cooldown: .days(30))
        #expect(try refusals(limits, lastRedemption: 10, at: .day(40).before) == [.cooldown])
        #expect(try refusals(limits, lastRedemption: 10) == [])
        #expect(try refusals(limits) == [])
    }

    @Test("the total counts slots of all customers; a customer who holds one takes no other")
    func total() throws {
        let limits = OfferLimits(total: 10, outstanding: 3)
        #expect(try refusals(limits, totalSlots: 9) == [])
        #expect(try refusals(limits, totalSlots: 10) == [.totalCap])
        #expect(try refusals(limits, outstandingUntil: [41], totalSlots: 10) == [])
    }

    @Test("all limits that are reached are named")
    func several() throws {
        let limits = OfferLimits(perCustomer: .init(count: 1), cooldown: .days(99), total: 1)
        #expect(
            try refusals(limits, outstandingUntil: [41], redeemedOn: [39], totalSlots: 2) == [
                .customerCap, .cooldown, .outstanding, .totalCap,
            ])
    }

    @Test("under a cap, each form of an answer takes a place, and the last place is for one form")
    func places() throws {
        func places(
            _ limits: OfferLimits, outstandingUntil ends: [Double] = [], redeemedOn days: [Double] = [],
            totalSlots: Int = 0, heldSlots: Int = 0
        ) throws -> Int? {
            try view(
                outstandingUntil: ends, redeemedOn: days, totalSlots: totalSlots, heldSlots: heldSlots
            ).places(under: limits, at: .day(40))
        }
        #expect(try places(OfferLimits(cooldown: .days(1))) == nil, "nothing is counted")
        #expect(try places(OfferLimits(perCustomer: .init(count: 5))) == 1, "one signature at a time")
        let three = OfferLimits(perCustomer: .init(count: 3), outstanding: 3)
        #expect(try places(three) == 3)
        #expect(try places(three, outstandingUntil: [41]) == 2)
        #expect(try places(three, outstandingUntil: [40]) == 3, "it has just expired")
        #expect(try places(three, redeemedOn: [10, 20]) == 1)
        #expect(try places(three, outstandingUntil: [41], redeemedOn: [10]) == 1)
        let total = OfferLimits(total: 10, outstanding: 3)
        #expect(try places(total, totalSlots: 8) == 2)
        #expect(try places(total, totalSlots: 9) == 1)
        #expect(try places(total, outstandingUntil: [41], totalSlots: 10, heldSlots: 1) == 1, "a share of what is held")
    }

    @Test(
        "a customer who asks all the time for both forms never redeems more than the cap, however they use what they hold",
        arguments: [1, 2, 3])
    func race(cap: Int) throws {
        var random = SplitMix64(seed: 23)
        for _ in 0..<500 {
            let limits = OfferLimits(perCustomer: .init(count: cap))
            var held: [Double] = []
            var redeemed: [Double] = []
            for step in 0..<60 {
                let now = Double(step) / 4
                held.removeAll { $0 <= now }
                let view = try view(outstandingUntil: held, redeemedOn: redeemed)
                if view.refusals(under: limits, at: .day(now)).isEmpty {
                    let forms = min(2, try #require(view.places(under: limits, at: .day(now))))
                    held += Array(repeating: now + 1, count: forms)
                }
                if !held.isEmpty, Int.random(in: 0..<3, using: &random) == 0 {
                    held.removeFirst()
                    redeemed.append(now)
                }
            }
            #expect(redeemed.count <= cap)
        }
    }
}
