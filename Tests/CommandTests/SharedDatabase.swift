import AppStoreStandIn
import AppStoreTestSupport
import Foundation
import NIOConcurrencyHelpers
import OfferConfiguration
import OfferCore
import OfferCrypto
import OfferEligibility
import StoreTestSupport
import SubscriberStore
import TestSupport

/// Three processes of the service that share a database in PostgreSQL, with customers, an App Store and a receiver of notifications.
///
/// Customers ask for decisions and offers, the App Store sends notifications, and in its sandbox a period ends twice a second, about
/// which the processes have to ask. What everybody was told is noted, to be compared with the database.
final class SharedDatabase: Sendable {
    /// What was seen from outside.
    struct Seen: Sendable {
        /// The nonces of the signatures that customers have received for the offer with a rule.
        var nonces: [String] = []
        var decisions = 0
        var plainOffers = 0
        /// Answers that must not be, as text.
        var faults: [String] = []
    }

    private struct State {
        var services: [RunningService?]
        var seen = Seen()
        var isOver = false
        var seed: UInt64 = 0
    }

    static let processes = 3
    /// Subscriptions whose period ends in each second. The poller asks about as many.
    private static let endsPerSecond = 2

    let decisions: DecisionProcess
    let server: TestPostgreSQL
    let url: String
    /// The original transaction IDs of the subscriptions in the sandbox.
    let ending: Set<String>
    private let standIn: AppStoreStandIn
    private let receiver = Process()
    private let program: NIOLockedValueBox<String>
    private let state: NIOLockedValueBox<State>

    /// - Parameters:
    ///   - seconds: for how long periods are to end.
    ///   - program: the build of `offer-signer` to begin with.
    init(customers: Int, limits: String, seconds: Int, program: String) async throws {
        server = try TestPostgreSQL()
        url = try server.makeDatabase()
        let port = try await FreePort.find()
        decisions = try await DecisionProcess(
            customers: customers, limits: limits, in: .postgreSQL(url: url),
            settings: "notifications: {forward: ['http://127.0.0.1:\(port)/app-store']}")
        let folder = decisions.folder
        let key = try SigningKey(text: decisions.keys.read(RunningService.keyFile))
        var settings = AppStoreStandIn.Settings { Int64(Date().timeIntervalSince1970 * 1000) }
        (settings.production.customers, settings.sandbox.customers) = (0, 0)
        settings.keys = [RunningService.keyID: key]
        standIn = try await AppStoreStandIn(settings, folder: folder.path)

        // The poller waits for a minute after an end in the sandbox.
        let now = Timestamp(.now) - .seconds(60)
        let numbers = 0..<seconds * Self.endsPerSecond
        let facts = numbers.map { number in
            let end = now + .milliseconds(1000 / Self.endsPerSecond * number)
            return DecisionProcess.facts(
                "\(900_000 + number)", of: UInt64(900_000 + number), from: end - .hours(1), to: end)
        }
        ending = Set(numbers.map { "\(900_000 + $0)" })
        try await decisions.withStore { store in try await store.merge(facts.flatMap { $0 }, in: Sample.sandbox) }

        try folder.write([], to: "received")
        receiver.executableURL = Self.loadProgram
        receiver.arguments = ["receive", "--port", "\(port)", "--received", folder.path + "/received"]
        try receiver.run()
        self.program = NIOLockedValueBox(program)
        state = NIOLockedValueBox(State(services: Array(repeating: nil, count: Self.processes)))
    }

    deinit { if receiver.isRunning { receiver.terminate() } }

    private static let loadProgram = URL(filePath: Command.offerSigner).deletingLastPathComponent()
        .appending(path: "notification-load")

    // MARK: Processes

    /// The service in a place; nil while it is replaced.
    func service(_ place: Int) -> RunningService? { state.withLockedValue { $0.services[place] } }

    func start(_ place: Int) throws {
        let environment = [
            "SUBSCRIPTION_OFFERS_APP_STORE_ROOTS": standIn.dataRootPath,
            "SUBSCRIPTION_OFFERS_APP_STORE_API": "on",
            "SUBSCRIPTION_OFFERS_APP_STORE_API_URL": standIn.productionURL,
            "SUBSCRIPTION_OFFERS_APP_STORE_SANDBOX_API_URL": standIn.sandboxURL,
            "SUBSCRIPTION_OFFERS_APP_STORE_API_ROOTS": standIn.tls.rootPath,
        ]
        let service = try decisions.start(environment, program: program.withLockedValue { $0 })
        state.withLockedValue { $0.services[place] = service }
    }

    /// Takes the service out of its place.
    func take(_ place: Int) -> RunningService? { state.withLockedValue { $0.services[place].take() } }

    /// Replaces every process, one after the other, by another build.
    /// - Returns: the exit statuses.
    func upgrade(to program: String) throws -> [Int32] {
        self.program.withLockedValue { $0 = program }
        return try (0..<Self.processes).compactMap { place in
            let status = take(place)?.stop()
            try start(place)
            return status
        }
    }

    // MARK: Load

    var seen: Seen { state.withLockedValue { $0.seen } }

    private var isOver: Bool { state.withLockedValue { $0.isOver } }

    /// Runs the load on all processes while `body` runs.
    func load(while body: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for place in 0..<Self.processes {
                group.addTask { try await self.sendNotifications(to: place) }
                group.addTask { await self.ask(place, every: .milliseconds(40), self.decide) }
                group.addTask { await self.ask(place, every: .milliseconds(40), self.signPlain) }
            }
            group.addTask {
                defer { self.state.withLockedValue { $0.isOver = true } }
                try await body()
            }
            try await group.waitForAll()
        }
    }

    private func sendNotifications(to place: Int) async throws {
        while !isOver {
            guard let service = service(place) else {
                try await Task.sleep(for: .milliseconds(50))
                continue
            }
            let seed = state.withLockedValue { state in
                state.seed += 1
                return state.seed
            }
            let load = Process()
            load.executableURL = Self.loadProgram
            load.arguments = [
                "send", "--roots", decisions.folder.path + "/chain", "--count", "1000000", "--connections", "4",
                "--rate",
                "15", "--url", "http://127.0.0.1:\(service.port)/v1/app-store-notifications", "--seed", "\(seed)",
                "--subscriptions", "200", "--acknowledged", decisions.folder.path + "/acknowledged",
            ]
            load.standardOutput = FileHandle.nullDevice
            try load.run()
            // It ends by itself when the service has ended.
            while load.isRunning, !isOver { try await Task.sleep(for: .milliseconds(50)) }
            if load.isRunning { load.terminate() }
            try await onOwnThread { load.waitUntilExit() }
        }
    }

    /// Asks the process in a place again and again, also when it is replaced.
    /// - Parameter question: returns false if the connection is gone.
    private func ask(
        _ place: Int, every pause: Duration, _ question: (inout Connection) async throws -> Bool
    ) async {
        while !isOver {
            if let port = service(place)?.port {
                try? await Connection.open(port: port) { connection in
                    while !isOver, try await question(&connection) { try await Task.sleep(for: pause) }
                }
            }
            try? await Task.sleep(for: .milliseconds(50))
        }
    }

    private func decide(_ connection: inout Connection) async throws -> Bool {
        let customer = UInt64.random(in: 1...UInt64(decisions.customers))
        return try await decisions.ask(customer, over: &connection) { nonce in
            state.withLockedValue { $0.seen.nonces.append(nonce) }
        } noting: { status, text in
            state.withLockedValue { state in
                state.seen.decisions += 1
                if status != 200 && status != 503 { state.seen.faults.append("decision: \(status) \(text)") }
            }
        }
    }

    private func signPlain(_ connection: inout Connection) async throws -> Bool {
        let body =
            #"{"bundleID":"com.example.app","productID":"monthly","offerID":"plain","applicationUsername":"one"}"#
        guard let response = try? await connection.post("/v1/promotional-offers", json: body) else { return false }
        state.withLockedValue { state in
            state.seen.plainOffers += 1
            if response.status != 200 { state.seen.faults.append("offer: \(response.status) \(response.text)") }
        }
        return true
    }

    // MARK: What became of it

    /// The `notificationUUID` of each notification that got 200.
    func acknowledged() throws -> [String] { try lines("acknowledged") }

    /// The `notificationUUID` of each notification that the receiver has accepted, as often as it came.
    func received() throws -> [String] { try lines("received") }

    private func lines(_ file: String) throws -> [String] {
        try decisions.folder.lines(file)
    }

    /// How often the App Store was asked about each subscription in its sandbox.
    func questions() -> [String: Int] { standIn.statistics.counts.perTransaction.filter { ending.contains($0.key) } }

    func stop() async throws -> [Int32] {
        let statuses = try await onOwnThread { (0..<Self.processes).compactMap { self.take($0)?.stop() } }
        receiver.terminate()
        await standIn.stop()
        return statuses
    }
}
