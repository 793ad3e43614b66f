import Foundation
import OfferCore
import OfferEligibility
import TestSupport
import Testing

/// `WEEK_CUSTOMERS` asks for more customers, as `scripts/soak week` does.
@Suite("A week of exposures", .serialized, .timeLimit(.minutes(120)))
struct ExposureWeekTests {
    private static let customers =
        ProcessInfo.processInfo.environment["WEEK_CUSTOMERS"].flatMap { Int($0) } ?? 60
    private static let clients = 6
    private static let days = 7

    @Test(
        "gives one exposure to every signed and every held-out customer, in the arm of the sample, through seven kills",
        arguments: DecisionCrashTests.Engine.allCases)
    func week(engine: DecisionCrashTests.Engine) async throws {
        let week = try await ExposureWeek(
            customers: Self.customers, length: max(.seconds(14), .milliseconds(60) * Self.customers),
            processes: engine.processes, in: engine.location())
        try await week.live(clients: Self.clients)
        let (told, customers) = (week.told, week.customers)
        #expect(try await week.stop() == Array(repeating: 0, count: engine.processes))
        #expect(told.faults == [])
        #expect(told.signed.count > Self.customers / 10 && told.heldOut.count > Self.customers / 10)
        #expect(told.signed.isDisjoint(with: told.heldOut), "the arm stays")

        let exposures = try await week.exposures()
        let byAccount = Dictionary(grouping: exposures) { exposure in
            if case .appTransactionID(let id)? = exposure.subject.customer { id.text.description } else { "" }
        }
        for account in told.signed.union(told.heldOut) {
            let customer = try #require(customers[account])
            let arms = byAccount[customer.appTransactionID, default: []].map(\.arm)
            #expect(arms == [told.signed.contains(account) ? .offered : .heldOut], "\(customer)")
        }
        let ownerships = Dictionary(customers.values.map { ($0.appTransactionID, $0.ownership) }) { first, _ in first }
        for (id, exposures) in byAccount {
            let isIn = DecisionCrashTests.place(of: id, in: ExposureWeek.sample) < ExposureWeek.share
            #expect(exposures.map(\.arm) == [isIn ? .offered : .heldOut], "as the reference draws: \(id)")
            #expect(ownerships[id] == "PURCHASED", "a seat is no buyer")
        }
        // Only answers that a kill has lost are missing.
        let answered = told.signed.count + told.heldOut.count
        #expect((answered...answered + Self.days * Self.clients).contains(exposures.count))
        print("\(engine): \(told.signed.count) signed, \(told.heldOut.count) held out, \(exposures.count) exposures")
    }
}
