import AppStoreTestSupport
import Foundation
import NIOConcurrencyHelpers
import OfferCore
import OfferEligibility
import SubscriberStore
import Synchronization
import TestSupport
import Testing

/// What the App Store posts.
struct AppStorePost: Sendable {
    /// The app, the environment and the `notificationUUID`.
    let id: String
    let body: [UInt8]

    static func id(_ uuid: some CustomStringConvertible, of app: AppScope) -> String {
        "\(app.bundleID.text) \(app.environment) \(uuid)"
    }
}

extension [AppStorePost] {
    /// Each of them several times, in an order that is the same in every run.
    func shuffled(times: Int) -> [AppStorePost] {
        var random = SplitMix64(seed: 21)
        return Array(repeatElement(self, count: times).joined()).shuffled(using: &random)
    }
}

/// Processes of the service that receive notifications into one database.
final class ReceivingProcesses: Sendable {
    static let count = 3

    private let keys: TemporaryFolder
    private let environment: [String: String]
    private let services: NIOLockedValueBox<[RunningService]>
    private let answered = Atomic(0)
    private let answeredAtKill = Atomic(Int.max)

    /// - Parameters:
    ///   - folder: contains the roots that `NotificationSigner` has made, in `roots`.
    ///   - configuration: the configuration file.
    ///   - url: of the database in PostgreSQL.
    init(in folder: TemporaryFolder, configuration: String, sharing url: String) throws {
        keys = try RunningService.makeKeys()
        try folder.write(configuration.utf8, to: "config.yaml")
        environment = [
            "SUBSCRIPTION_OFFERS_APP_STORE_ROOTS": folder.path + "/roots/" + NotificationSigner.rootFile,
            "SUBSCRIPTION_OFFERS_APP_STORE_API": "off", "SUBSCRIPTION_OFFERS_DATABASE": url,
            "SUBSCRIPTION_OFFERS_CONFIG": folder.path + "/config.yaml",
        ]
        let (environment, keys) = (environment, keys)
        services = NIOLockedValueBox(
            try (0..<Self.count).map { _ in try RunningService(environment: environment, keys: keys) })
    }

    /// Posts until each has got 200, from two clients for each process. When half of them have, the first process is killed.
    func post(_ posts: [AppStorePost]) async throws {
        let clients = 2 * Self.count
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
    private func post(_ posts: inout ArraySlice<AppStorePost>, from client: Int) async {
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

    /// The process in a place.
    func service(_ place: Int) -> RunningService { services.withLockedValue { $0[place] } }

    /// Ends the processes.
    func statuses() -> [Int32] { services.withLockedValue { $0 }.map { $0.stop() } }
}

/// What is in the database.
struct StoredHistories {
    private(set) var facts: [AppScope: [SubscriberFact]] = [:]
    private(set) var notifications: [String] = []

    init(_ store: any SubscriberStore) async throws {
        let records = NIOLockedValueBox<[StoreRecord]>([])
        try await store.forEachRecord { record throws(StoreError) in records.withLockedValue { $0.append(record) } }
        for record in records.withLockedValue({ $0 }) {
            switch record {
            case .fact(let app, let fact): facts[app, default: []].append(fact)
            case .notification(let entry):
                notifications.append(AppStorePost.id(entry.notification.notificationUUID, of: entry.app))
            default: break
            }
        }
    }
}
