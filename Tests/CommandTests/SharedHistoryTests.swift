import AppStoreData
import AppStoreTestSupport
import Foundation
import NIOConcurrencyHelpers
import OfferCore
import OfferCrypto
import StoreTestSupport
import SubscriberStore
import Synchronization
import TestSupport
import Testing

@testable import HistoryTestSupport

/// `STORE_HISTORIES` asks for more histories.
@Suite("Three processes that share PostgreSQL take in whole histories", .timeLimit(.minutes(120)))
struct SharedHistoryTests {
    private static let count = ProcessInfo.processInfo.environment["STORE_HISTORIES"].flatMap { Int($0) } ?? 8
    private static let processes = 3

    @Test("in any order, repeated, at the same time, and with a kill -9, they leave what each history says")
    func anyOrder() async throws {
        let histories = try Histories(count: Self.count)
        let url = try TestPostgreSQL.shared.get().makeDatabase()
        let shared = try HistoryProcesses(Self.processes, of: histories, sharing: url)
        try await shared.post(histories.shuffledPosts(times: 2))
        #expect(shared.statuses() == [0, 0, 0])

        let store = try StoreLocation.postgreSQL(url: url).open()
        defer { try? store.close() }
        let stored = try await StoredHistories(store)
        #expect(try await store.check() == [])
        #expect(stored.notifications.count == histories.posts.count, "each is stored once")
        #expect(Set(stored.notifications) == Set(histories.posts.map(\.id)))
        for (app, history) in histories.all {
            let facts = SubscriberFacts(stored.facts[app] ?? [])
            let reference = SubscriberFacts(try histories.received(history).flatMap { try $0.read(in: app).facts })
            for now in [history.end, history.end + .days(3), history.end + .days(400)] {
                let state = SubscriberState(of: facts, environment: app.environment, at: now)
                let expected = SubscriberState(of: reference, environment: app.environment, at: now)
                #expect(state == expected, "\(app.bundleID.text) in \(app.environment)")
            }
            guard history.end < histories.now else { continue }
            let state = SubscriberState(of: facts, environment: app.environment, at: history.end)
            #expect(try history.differences(state, at: history.end) == [], "\(app.bundleID.text) in \(app.environment)")
        }
    }
}

/// Histories of customers, each in an app of its own, in both environments.
private struct Histories {
    struct Post: Sendable {
        /// The app, the environment and the `notificationUUID`.
        let id: String
        let body: [UInt8]
    }

    let all: [(app: AppScope, history: History)]
    /// One for each notification.
    let posts: [Post]
    let folder: TemporaryFolder
    /// What the App Store signs later than this is not sent. Histories in the sandbox are over long before.
    let now = Timestamp(.now)

    init(count: Int) throws {
        folder = try TemporaryFolder()
        try NotificationSigner.make(in: folder.path + "/roots")
        let signer = try NotificationSigner(folder: folder.path + "/roots")
        all = try (0..<UInt64(count)).flatMap { seed in
            let bundleID = try BundleID(utf8: Array("com.example.app\(seed)".utf8))
            return try [AppStoreEnvironment.production, .sandbox].enumerated().map { place, environment in
                let history = try History(seed: 2 * seed + UInt64(place), environment: environment)
                return (AppScope(bundleID: bundleID, environment: environment), history)
            }
        }
        let now = now
        posts = try all.flatMap { app, history in
            try Self.notifications(of: history, until: now).map { notification in
                Post(
                    id: "\(app.bundleID.text) \(app.environment) \(notification.uuid)",
                    body: try notification.body(of: app.bundleID, in: app.environment, signedBy: signer.jws))
            }
        }
    }

    func received(_ history: History) -> [HistoryNotification] { Self.notifications(of: history, until: now) }

    private static func notifications(of history: History, until now: Timestamp) -> [HistoryNotification] {
        history.notifications.filter { $0.signedDate < now }
    }

    func shuffledPosts(times: Int) -> [Post] {
        var random = SplitMix64(seed: 21)
        return Array(repeating: posts, count: times).joined().shuffled(using: &random)
    }

    var configuration: String {
        let apps = Set(all.map(\.app.bundleID))
        return "apps:\n"
            + apps.map { app in
                """
                  - bundleID: \(app.text)
                    appAppleID: \(HistoryNotification.appAppleID(of: app))
                    products: [{productID: monthly, offers: [half]}]

                """
            }.joined()
    }
}

extension HistoryNotification {
    fileprivate func read(in app: AppScope) throws -> VerifiedNotification {
        try read(of: app.bundleID, in: app.environment)
    }
}

/// Processes of the service that receive notifications into one database.
private final class HistoryProcesses: Sendable {
    private let folder: TemporaryFolder
    private let keys: TemporaryFolder
    private let environment: [String: String]
    private let services: NIOLockedValueBox<[RunningService]>
    private let answered = Atomic(0)
    private let answeredAtKill = Atomic(Int.max)

    init(_ count: Int, of histories: Histories, sharing url: String) throws {
        folder = histories.folder
        keys = try TemporaryFolder()
        try keys.write(PrivateKeyPEM.generate(), to: "SubscriptionKey_\(RunningService.keyID).p8")
        try folder.write(histories.configuration.utf8, to: "config.yaml")
        environment = [
            "SUBSCRIPTION_OFFERS_APP_STORE_ROOTS": folder.path + "/roots/" + NotificationSigner.rootFile,
            "SUBSCRIPTION_OFFERS_APP_STORE_API": "off", "SUBSCRIPTION_OFFERS_DATABASE": url,
            "SUBSCRIPTION_OFFERS_CONFIG": folder.path + "/config.yaml",
        ]
        let (environment, keys) = (environment, keys)
        services = NIOLockedValueBox(
            try (0..<count).map { _ in try RunningService(environment: environment, keys: keys) })
    }

    /// Posts until each has got 200, from two clients for each process. When half of them have, the first process is killed.
    func post(_ posts: [Histories.Post]) async throws {
        let clients = 2 * services.withLockedValue { $0.count }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for client in 0..<clients {
                group.addTask {
                    var rest = stride(from: client, to: posts.count, by: clients).map { posts[$0] }[...]
                    for _ in 0..<Self.maximumConnections where !rest.isEmpty { await self.post(&rest, from: client) }
                    #expect(rest.isEmpty, "the service does not answer")
                }
            }
            group.addTask {
                while self.answered.load(ordering: .relaxed) < posts.count / 2 {
                    try await Task.sleep(for: .milliseconds(5))
                }
                try await onOwnThread { try self.replaceFirst() }
                #expect(self.answeredAtKill.load(ordering: .relaxed) < posts.count, "the kill came too late")
            }
            try await group.waitForAll()
        }
    }

    /// That a client opens. It waits for a moment between them.
    private static let maximumConnections = 3000

    /// Posts over one connection until it breaks.
    private func post(_ posts: inout ArraySlice<Histories.Post>, from client: Int) async {
        let port = services.withLockedValue { $0[client % $0.count].port }
        var rest = posts
        defer { posts = rest }
        try? await Connection.open(port: port) { connection in
            while let post = rest.first {
                let json = String(decoding: post.body, as: UTF8.self)
                // nil if the process was killed.
                guard let response = try await connection.post("/v1/app-store-notifications", json: json) else {
                    return
                }
                #expect([200, 503].contains(response.status), "\(response.text)")
                guard response.status != 503 else { continue }
                rest.removeFirst()
                answered.wrappingAdd(1, ordering: .relaxed)
            }
        }
        if !rest.isEmpty { try? await Task.sleep(for: .milliseconds(20)) }
    }

    private func replaceFirst() throws {
        services.withLockedValue { $0[0] }.killAtOnce()
        answeredAtKill.store(answered.load(ordering: .relaxed), ordering: .relaxed)
        let service = try RunningService(environment: environment, keys: keys)
        services.withLockedValue { $0[0] = service }
    }

    /// Ends the processes.
    func statuses() -> [Int32] { services.withLockedValue { $0 }.map { $0.stop() } }
}

/// What is in the database.
private struct StoredHistories {
    private(set) var facts: [AppScope: [SubscriberFact]] = [:]
    private(set) var notifications: [String] = []

    init(_ store: any SubscriberStore) async throws {
        let records = NIOLockedValueBox<[StoreRecord]>([])
        try await store.forEachRecord { record throws(StoreError) in records.withLockedValue { $0.append(record) } }
        for record in records.withLockedValue({ $0 }) {
            switch record {
            case .fact(let app, let fact): facts[app, default: []].append(fact)
            case .notification(let entry):
                let uuid = entry.notification.notificationUUID.description
                notifications.append("\(entry.app.bundleID.text) \(entry.app.environment) \(uuid)")
            default: break
            }
        }
    }
}
