import Foundation
import NIOConcurrencyHelpers
import OfferCore
import OfferEligibility
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

/// Races for the last redemption against services that are killed in between.
@Suite("Limits hold through races and crashes", .serialized)
struct DecisionCrashTests {
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

    /// `DECISION_KILLS` asks for more.
    private static let kills = ProcessInfo.processInfo.environment["DECISION_KILLS"].flatMap { Int($0) } ?? 3
    private static let clients = 64

    /// The nonces of all signatures that a client has received.
    private final class Received: Sendable {
        private let nonces = NIOLockedValueBox<[String]>([])

        var all: [String] { nonces.withLockedValue { $0 } }

        func add(_ nonce: String) { nonces.withLockedValue { $0.append(nonce) } }
    }

    @Test("64 clients race for the last of 1,000, and never one too many is signed", arguments: Engine.allCases)
    func total(engine: Engine) async throws {
        let race = try await DecisionProcess(customers: 1100, limits: "{total: 1000}", in: engine.location())
        let received = Received()
        let next = NIOLockedValueBox(0)
        // Those without an answer ask again, as an app would.
        try await run(race, on: engine.processes, until: { received.all.count >= 940 }) { connection in
            let number = next.withLockedValue { next in
                next += 1
                return next
            }
            guard number <= race.customers * 3 else { return nil }
            return try await race.ask(UInt64(number % race.customers + 1), over: &connection, received.add)
        }
        let slots = try await race.outstandingSlots()
        #expect(slots == 1000, "all of them, and never one too many")
        #expect(
            received.all.count <= slots && received.all.count > 1000 - Self.clients * (Self.kills + 1),
            "each signature has its reservation")
        #expect(Set(received.all).count == received.all.count)
        let reserved = try await race.reservedNonces()
        #expect(reserved.isSuperset(of: received.all), "what was handed out is durable")
        // Each reservation has its exposure, whatever was killed, and no customer has two.
        let exposed = try await race.exposures().map(\.subject)
        #expect(exposed.count == slots && Set(exposed).count == slots)
        // Those that were reserved for nothing are free again when they expire.
        #expect(try await race.isFree(after: 27))
    }

    @Test("64 clients race for one customer's only one, and one of them gets it", arguments: Engine.allCases)
    func onlyOne(engine: Engine) async throws {
        let race = try await DecisionProcess(customers: 1, limits: "{perCustomer: 1}", in: engine.location())
        let received = Received()
        let asked = NIOLockedValueBox(0)
        try await run(race, on: engine.processes, until: { asked.withLockedValue { $0 } >= 2000 }) { connection in
            guard asked.withLockedValue({ $0 }) < 2000 else { return nil }
            asked.withLockedValue { $0 += 1 }
            return try await race.ask(1, over: &connection, received.add)
        }
        #expect(received.all.count <= 1)
        let reserved = try await race.reservedNonces()
        #expect(reserved.count == 1, "one reservation, whatever was asked: \(asked.withLockedValue { $0 })")
        #expect(try await race.exposures().count == 1)
        #expect(try await race.isFree(after: 27))
    }

    @Test(
        "every customer is asked about again and again, and has one exposure in the arm of the sample",
        arguments: Engine.allCases)
    func arms(engine: Engine) async throws {
        let race = try await DecisionProcess(
            customers: 400, limits: "{outstanding: 9}", in: engine.location(), condition: "share: {of: 0.5, by: crash}")
        let (next, answered) = (NIOLockedValueBox(0), NIOLockedValueBox<Set<Int>>([]))
        let received = Received()
        try await run(race, on: engine.processes, until: { next.withLockedValue { $0 } > 1000 }) { connection in
            let number = next.withLockedValue { next in
                next += 1
                return next
            }
            guard number <= 6000, answered.withLockedValue({ $0.count }) < race.customers else { return nil }
            let customer = number % race.customers + 1
            return try await race.ask(UInt64(customer), over: &connection, received.add) { status, _ in
                if status == 200 { answered.withLockedValue { _ = $0.insert(customer) } }
            }
        }
        #expect(answered.withLockedValue { $0.count } == race.customers)
        let exposures = try await race.exposures()
        #expect(exposures.count == race.customers && Set(exposures.map(\.subject)).count == race.customers)
        #expect(Set(exposures.map(\.arm)) == [.offered, .heldOut])
        for exposure in exposures {
            guard case .appTransactionID(let id)? = exposure.subject.customer else {
                Issue.record("no Apple Account: \(exposure.subject)")
                continue
            }
            let isIn = Self.place(of: id.text.description, in: "crash") < 0.5
            #expect(exposure.arm == (isIn ? .offered : .heldOut) && exposure.place?.isInSample == isIn)
        }
    }

    /// The place of an Apple Account in a sample: FNV-1a and the finalizer of MurmurHash3, as a fraction with 53 bits.
    static func place(of id: String, in name: String) -> Double {
        let mixed = (name + "\0" + id).utf8.reduce(UInt64(14_695_981_039_346_656_037)) {
            ($0 ^ UInt64($1)) &* 1_099_511_628_211
        }
        let once = (mixed ^ mixed >> 33) &* 0xFF51_AFD7_ED55_8CCD
        let twice = (once ^ once >> 33) &* 0xC4CE_B9FE_1A85_EC53
        return Double((twice ^ twice >> 33) / 2048) / 9_007_199_254_740_992
    }

    /// `LOST_ANSWERS` asks for more.
    private static let lostAnswers = ProcessInfo.processInfo.environment["LOST_ANSWERS"].flatMap { Int($0) } ?? 300

    @Test(
        "every first answer is lost, a process is killed, and repeated requests with their key reserve once",
        arguments: Engine.allCases)
    func lostAnswers(engine: Engine) async throws {
        let race = try await DecisionProcess(
            customers: Self.lostAnswers, limits: "{outstanding: 9}", in: engine.location())
        // Without an issuer ID, an answer has one signature.
        let settings = ["SUBSCRIPTION_OFFERS_ISSUER_ID": ""]
        let services = NIOLockedValueBox<[RunningService]>([])
        for _ in 0..<engine.processes {
            let service = try await onOwnThread { try race.start(settings) }
            services.withLockedValue { $0.append(service) }
        }
        let next = NIOLockedValueBox<UInt64>(0)
        let received = Received()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<Self.clients {
                group.addTask {
                    while true {
                        let customer = next.withLockedValue { next in
                            next += 1
                            return next
                        }
                        guard customer <= Self.lostAnswers else { return }
                        let answers = try await Self.answers(to: customer, race, services)
                        #expect(Set(answers).count == 1, "customer \(customer)")
                        received.add(answers.first ?? "none")
                    }
                }
            }
            group.addTask {
                // Some requests are under way.
                while next.withLockedValue({ $0 }) < UInt64(Self.lostAnswers / 2) {
                    try await Task.sleep(for: .milliseconds(5))
                }
                services.withLockedValue { $0[0] }.killAtOnce()
                let service = try await onOwnThread { try race.start(settings) }
                services.withLockedValue { $0[0] = service }
            }
            try await group.waitForAll()
        }
        let outstanding = try await race.authorisations().filter { $0.authorisation.state == .outstanding }
        #expect(outstanding.count == Self.lostAnswers, "as many reservations as customers")
        #expect(Set(outstanding.map { "\($0.id)" }) == Set(received.all))
        #expect(try await race.exposures().count == Self.lostAnswers)
        for service in services.withLockedValue({ $0 }) { #expect(try await onOwnThread { service.stop() } == 0) }
    }

    /// Asks for a customer until two answers have been read. The first answer is lost: it is not read, or a repeated
    /// request to another process follows although it was read.
    private static func answers(
        to customer: UInt64, _ race: DecisionProcess, _ services: NIOLockedValueBox<[RunningService]>
    ) async throws -> [String] {
        var answers: [String] = []
        for attempt in 0..<600 where answers.count < 2 {
            let port = services.withLockedValue { $0[(Int(customer) + attempt) % $0.count].port }
            let nonces = NIOLockedValueBox<[String]>([])
            try? await Connection.open(port: port) { connection in
                if attempt == 0, customer % 2 == 0 {
                    try await race.askWithoutReading(customer, over: &connection, key: "of-\(customer)")
                } else {
                    let isOpen = try await race.ask(
                        customer, over: &connection, key: "of-\(customer)",
                        { nonce in nonces.withLockedValue { $0.append(nonce) } })
                    if !isOpen { try await Task.sleep(for: .milliseconds(50)) }
                }
            }
            answers += nonces.withLockedValue { $0 }
        }
        return answers
    }

    /// Has the clients ask until none has anything to ask, and kills a process a few times in between.
    /// - Parameters:
    ///   - isLate: whether no kill is to come any more.
    ///   - work: asks once; nil ends the client, and false says that the connection is gone.
    private func run(
        _ race: DecisionProcess, on count: Int, until isLate: @escaping @Sendable () -> Bool,
        _ work: @escaping @Sendable (inout Connection) async throws -> Bool?
    ) async throws {
        var random = SplitMix64(seed: 20)
        var processes: [RunningService] = []
        for round in 0...Self.kills {
            let missing = count - processes.count
            processes += try await onOwnThread { try (0..<missing).map { _ in try race.start() } }
            let isLast = round == Self.kills
            let isOver = NIOLockedValueBox(false)
            let pause = Int.random(in: 40...400, using: &random)
            try await withThrowingTaskGroup(of: Void.self) { [processes] group in
                for client in 0..<Self.clients {
                    let port = processes[client % count].port
                    group.addTask {
                        // The connection breaks when its process is killed.
                        try? await Connection.open(port: port) { connection in
                            while let isOpen = try await work(&connection), isOpen,
                                isLast || !isOver.withLockedValue({ $0 }) && !isLate()
                            {}
                        }
                    }
                }
                if !isLast {
                    group.addTask {
                        try await Task.sleep(for: .milliseconds(pause))
                        processes[0].killAtOnce()
                        isOver.withLockedValue { $0 = true }
                    }
                }
                try await group.waitForAll()
            }
            // Each is killed in its turn.
            if !isLast { processes.removeFirst() }
        }
        for process in processes { #expect(try await onOwnThread { process.stop() } == 0) }
    }
}
