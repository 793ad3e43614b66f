import OfferCore
import TestSupport
import Testing

@testable import HistoryTestSupport

@Suite("How often an offer may be signed")
struct LedgerViewTests {
    private func refusals(
        _ limits: OfferLimits, outstandingUntil ends: [Double] = [], redeemedOn days: [Double] = [],
        lastRedemption: Double? = nil, totalSlots: Int = 0, at now: Timestamp = .day(40)
    ) throws -> [ReasonCode] {
        let authorisations = try ends.map { end in
            Authorisation(
                productID: try ProductID("monthly"), offerID: try OfferID(utf8: Array("half".utf8)),
                state: .outstanding, at: .day(end - 1), expiresAt: .day(end))
        }
        let view = LedgerView(
            authorisations: authorisations, redemptions: days.map { .day($0) },
            lastRedemption: (lastRedemption ?? days.max()).map { .day($0) }, totalSlots: totalSlots)
        return view.refusals(under: limits, at: now)
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

    @Test("a customer who asks all the time never redeems more than the cap, however they use what they hold")
    func race() throws {
        var random = SplitMix64(seed: 23)
        for _ in 0..<500 {
            let cap = Int.random(in: 1...3, using: &random)
            let limits = OfferLimits(perCustomer: .init(count: cap))
            var held: [Double] = []
            var redeemed: [Double] = []
            for step in 0..<60 {
                let now = Double(step) / 4
                held.removeAll { $0 <= now }
                if try refusals(limits, outstandingUntil: held, redeemedOn: redeemed, at: .day(now)).isEmpty {
                    held.append(now + 1)
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
