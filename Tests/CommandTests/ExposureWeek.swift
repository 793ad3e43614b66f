import AppStoreStandIn
import Foundation
import NIOConcurrencyHelpers
import OfferCore
import OfferEligibility
import StoreTestSupport
import SubscriberStore
import TestSupport

@testable import AppStoreTestSupport

/// A week of generated customers on a fast clock, with processes that are killed. Half of the customers are held out of an offer, and
/// get another one.
final class ExposureWeek: Sendable {
    /// What customers were told, by their accounts.
    struct Told: Sendable {
        var signed: Set<String> = []
        var heldOut: Set<String> = []
        /// Answers that must not be, as text.
        var faults: [String] = []
    }

    /// A customer with an account, as the App Store knows them.
    struct Customer: Hashable, Sendable {
        let appTransactionID: String
        /// Apple's `inAppOwnershipType`.
        let ownership: String
    }

    private struct State {
        var services: [RunningService?]
        var told = Told()
        /// The accounts of the customers so far.
        var accounts: [String] = []
        var isOver = false
        var turn = 0
    }

    static let sample = "week"
    static let share = 0.5
    private let folder: TemporaryFolder
    private let keys: TemporaryFolder
    private let location: StoreLocation
    private let standIn: AppStoreStandIn
    private let length: Duration
    private let state: NIOLockedValueBox<State>

    /// - Parameters:
    ///   - length: of the week.
    ///   - location: of the database; nil for a new one in SQLite.
    init(customers: Int, length: Duration, processes: Int, in location: StoreLocation?) async throws {
        (folder, keys) = (try TemporaryFolder(), try RunningService.makeKeys())
        self.location = location ?? .sqlite(path: folder.path + "/store.sqlite")
        self.length = length
        let state = NIOLockedValueBox(State(services: Array(repeating: nil, count: processes)))
        self.state = state
        var settings = AppStoreStandIn.Settings { Int64(Date().timeIntervalSince1970 * 1000) }
        settings.production.customers = customers
        settings.production.clock = WorldClock(month: Int64(length / .milliseconds(1)) * 30 / 7)
        settings.sandbox.customers = 0
        settings.posting.repeated = 0.2
        settings.posting.receiver = .function { body in
            guard let service = Self.service(in: state) else { return nil }
            return try? await service.post("/v1/app-store-notifications", body).status
        }
        standIn = try await AppStoreStandIn(settings, folder: folder.path)
        try folder.write(
            """
            apps:
              - bundleID: com.example.app
                appAppleID: 1234567890
                products:
                  - productID: com.example.app.pro.weekly
                    subscriptionGroupID: "21012345"
                    offers:
                      - offerID: stay
                        rule: {all: [{subscription: {status: active}}, {share: {of: \(Self.share), by: \(Self.sample)}}]}
                        priority: 1
                        limits: {outstanding: 99}
                      # The same without the sample. It is signed only for those who are held out.
                      - {offerID: control, rule: {subscription: {status: active}}, limits: {outstanding: 99}}
            """.utf8, to: "config.yaml")
        for place in 0..<processes { try await onOwnThread { try self.start(place) } }
    }

    // MARK: Processes

    /// The next process that runs; nil if all are being replaced.
    private static func service(in state: NIOLockedValueBox<State>) -> RunningService? {
        state.withLockedValue { state in
            state.turn += 1
            let services = state.services.compactMap(\.self)
            return services.isEmpty ? nil : services[state.turn % services.count]
        }
    }

    private func start(_ place: Int) throws {
        let database =
            switch location {
            case .sqlite(let path): "sqlite:" + path
            case .postgreSQL(let url): url
            }
        let service = try RunningService(
            environment: [
                "SUBSCRIPTION_OFFERS_DATABASE": database, "SUBSCRIPTION_OFFERS_CONFIG": folder.path + "/config.yaml",
                "SUBSCRIPTION_OFFERS_APP_STORE_ROOTS": standIn.dataRootPath, "SUBSCRIPTION_OFFERS_ALLOW_ANYONE": "true",
                "SUBSCRIPTION_OFFERS_APP_STORE_API": "off",
            ], keys: keys)
        state.withLockedValue { $0.services[place] = service }
    }

    private func kill(_ place: Int) throws {
        state.withLockedValue { $0.services[place].take() }?.killAtOnce()
        try start(place)
    }

    // MARK: The week

    /// Customers live and ask again and again, and a process is killed on each day. At the end, everybody asks once more.
    func live(clients: Int) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                while !self.isOver {
                    await self.standIn.advance()
                    let accounts = Array(self.customers.keys)
                    self.state.withLockedValue { $0.accounts = accounts }
                    try await Task.sleep(for: .milliseconds(100))
                }
            }
            for client in 0..<clients {
                group.addTask {
                    var random = SplitMix64(seed: UInt64(client))
                    while !self.isOver {
                        guard let account = self.state.withLockedValue({ $0.accounts.randomElement(using: &random) })
                        else {
                            try await Task.sleep(for: .milliseconds(50))
                            continue
                        }
                        _ = await self.ask(account)
                        // Notifications need the processes too.
                        try await Task.sleep(for: .milliseconds(20))
                    }
                }
            }
            group.addTask {
                defer { self.state.withLockedValue { $0.isOver = true } }
                for day in 0..<7 {
                    try await Task.sleep(for: self.length / 7)
                    try await onOwnThread { try self.kill(day % self.state.withLockedValue { $0.services.count }) }
                }
            }
            try await group.waitForAll()
        }
        for account in customers.keys {
            for _ in 0..<100 where await !ask(account) { try await Task.sleep(for: .milliseconds(50)) }
        }
    }

    private var isOver: Bool { state.withLockedValue { $0.isOver } }

    /// The customers with an account who have bought, by their accounts.
    var customers: [String: Customer] {
        let events = standIn.production.notifications(from: .min, until: .max).compactMap(\.event)
        return Dictionary(
            events.compactMap { event in
                event.account.map {
                    ($0, Customer(appTransactionID: event.appTransactionID, ownership: event.ownership))
                }
            }, uniquingKeysWith: { first, _ in first })
    }

    /// - Returns: false if there was no answer, or none that decides.
    private func ask(_ account: String) async -> Bool {
        let body = #"{"bundleID":"com.example.app","appAccountToken":"\#(account)"}"#
        guard let response = try? await Self.service(in: state)?.post("/v1/decisions", body) else { return false }
        guard response.status == 200 else {
            // While a process starts.
            if response.status != 503 { note { $0.faults.append("\(response.status) \(response.text)") } }
            return false
        }
        func offers(_ name: String) -> [[String: Any]] { response.json[name] as? [[String: Any]] ?? [] }
        let eligible = Set(offers("offers").compactMap { $0["offerID"] as? String })
        if eligible.contains("stay") { note { $0.signed.insert(account) } }
        let refused = offers("refused").filter { $0["offerID"] as? String == "stay" }
        let codes = refused.flatMap { $0["reasons"] as? [[String: Any]] ?? [] }.compactMap { $0["code"] as? String }
        // Everything but the sample holds, nothing is unknown.
        if codes == ["holdout"], eligible.contains("control") { note { $0.heldOut.insert(account) } }
        return true
    }

    private func note(_ change: (inout Told) -> Void) { state.withLockedValue { change(&$0.told) } }

    // MARK: What became of it

    var told: Told { state.withLockedValue { $0.told } }

    /// - Returns: the exit statuses.
    func stop() async throws -> [Int32] {
        let services = state.withLockedValue { state in
            defer { state.services = [] }
            return state.services.compactMap(\.self)
        }
        await standIn.stop()
        return try await onOwnThread { services.map { $0.stop() } }
    }

    /// The exposures to the offer with the sample.
    func exposures() async throws -> [Exposure] {
        let store = try location.open()
        defer { try? store.close() }
        return try await store.exposures().filter { $0.offerID?.text.description == "stay" }
    }
}
