import Foundation
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

/// `EVENT_CUSTOMERS` asks for more customers, as `scripts/soak events` does.
@Suite("A week of events", .timeLimit(.minutes(600)))
struct EventWeekTests {
    private static let customers =
        ProcessInfo.processInfo.environment["EVENT_CUSTOMERS"].flatMap { Int($0) } ?? 60

    enum Engine: CaseIterable {
        case oneProcessOnSQLite, threeProcessesOnPostgreSQL

        var processes: Int { self == .oneProcessOnSQLite ? 1 : 3 }

        func location() throws -> StoreLocation? {
            switch self {
            case .oneProcessOnSQLite: nil
            case .threeProcessesOnPostgreSQL: .postgreSQL(url: try TestPostgreSQL.shared.get().makeDatabase())
            }
        }
    }

    @Test(
        "each event of a reference arrives in order, and no other, through kills and a receiver that fails, hangs and restarts",
        arguments: Engine.allCases)
    func week(engine: Engine) async throws {
        let week = try await EventWeek(
            customers: Self.customers, in: try engine.location(), processes: engine.processes)
        var step = 0
        // Seven days, and another one for what they began.
        let start = week.now
        while week.now < start + 8 * 86_400_000 {
            step += 1
            let isDown = [9, 10, 18].contains(step)
            if isDown { await week.receiver.stop() } else { try await week.receiver.start() }
            if step % 3 == 0 { week.receiver.killSoon { [processes = week.processes] in processes.killNext() } }
            // Some searches end before they are over.
            if step % 9 == 0 { week.processes.killNext() }
            let kills = week.processes.kills
            try await week.pass(hours: Int64(step % 5 + 5), isDelivered: !isDown)
            // Few requests arrived, or none.
            if step % 3 == 0, week.processes.kills == kills { week.processes.killNext() }
        }
        try await week.deliver()
        try Self.compare(week)
        let kills = week.processes.kills
        #expect(kills >= step / 3)
        try await week.end()
        print("\(engine): \(week.receiver.received.count) events, \(kills) kills")
    }

    private static func compare(_ week: EventWeek) throws {
        #expect(week.receiver.strange == [])
        let contract = JSONSchema(document: try TestService().get("/openapi.json").json)
        let schema = try #require(contract.resolve("#/components/schemas/CustomerEvent"))
        for body in week.receiver.samples {
            let json = try JSONSerialization.jsonObject(with: Data(body))
            #expect(contract.faults(of: json, against: schema) == [], "\(String(decoding: body, as: UTF8.self))")
        }
        let all = week.receiver.received
        let contents = Dictionary(grouping: all, by: \.id)
        #expect(contents.values.allSatisfy { Set($0).count == 1 }, "an ID names one event")
        #expect(Set(all).count == contents.count)
        #expect(all.count > contents.count, "some arrive twice")
        var known: Set<String> = []
        let received = Dictionary(grouping: all.filter { known.insert($0.id).inserted }, by: \.customer)
        let expected = week.reference.expected
        #expect(Set(received.keys).isSubset(of: expected.keys))
        for (original, events) in expected {
            let found = (received[original] ?? []).map(\.event).filter { !week.reference.isOptional($0, of: original) }
            let (missing, invented) = (Set(events).subtracting(found), Set(found).subtracting(events))
            #expect(
                missing == [] && invented == [], "\(original): missing \(missing), invented \(invented), all \(found)")
            // The order of events at one time does not matter.
            let times = zip(events, found).filter { $0.at != $1.at }.map { "\($0) \($1)" }
            #expect(times == [] && events.count == found.count, "\(original): \(times)")
        }
        // Otherwise the week would prove nothing.
        let types = Set(expected.values.joined().map(\.type))
        #expect(
            types == [
                "became_eligible", "no_longer_eligible", "signed", "shown", "redeemed", "expired_unused", "lost",
                "payment_failed", "payment_recovered", "renewed_after_offer", "alarm", "grant_opened",
            ], "\(types)")
        #expect(Set(expected.values.joined().map(\.rule)).isSuperset(of: ["renewing", "leaving", "grant", nil]))
        #expect(Set(expected.values.joined().map(\.placement)) == ["settings", "cancel", nil])
    }
}
