import AppStoreData
import AppStoreTestSupport
import Foundation
import OfferCore
import OfferEligibility
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@testable import HistoryTestSupport

/// `STORE_HISTORIES` asks for more histories.
@Suite("Three processes that share PostgreSQL take in whole histories", .timeLimit(.minutes(120)))
struct SharedHistoryTests {
    private static let count = ProcessInfo.processInfo.environment["STORE_HISTORIES"].flatMap { Int($0) } ?? 8

    @Test("in any order, repeated, at the same time, and with a kill -9, they leave what each history says")
    func anyOrder() async throws {
        let histories = try Histories(count: Self.count)
        let url = try TestPostgreSQL.shared.get().makeDatabase()
        let shared = try ReceivingProcesses(
            in: histories.folder, configuration: histories.configuration, sharing: url)
        try await shared.post(histories.posts.shuffled(times: 2))
        #expect(shared.statuses() == [0, 0, 0])

        let store = try StoreLocation.postgreSQL(url: url).open()
        defer { try? store.close() }
        let stored = try await StoredHistories(store)
        #expect(try await store.check() == [])
        #expect(stored.notifications.count == histories.posts.count, "each is stored once")
        #expect(Set(stored.notifications) == Set(histories.posts.map(\.id)))
        for (app, history) in histories.all {
            let facts = SubscriberFacts(stored.facts[app] ?? [])
            let reference = SubscriberFacts(
                try histories.received(history).flatMap { notification in
                    let facts = try notification.read(in: app).facts
                    return facts + facts.announcements
                })
            for now in [history.end, history.end + .days(3), history.end + .days(400)] {
                let state = SubscriberState(of: facts, environment: app.environment, at: now)
                let expected = SubscriberState(of: reference, environment: app.environment, at: now)
                #expect(state == expected, "\(app.bundleID.text) in \(app.environment)")
            }
            guard history.end < histories.now else { continue }
            // A history does not say what was announced and then replaced.
            let current = SubscriberFacts(facts.filter { !$0.key.kind.isAnnouncement })
            let state = SubscriberState(of: current, environment: app.environment, at: history.end)
            #expect(try history.differences(state, at: history.end) == [], "\(app.bundleID.text) in \(app.environment)")
        }
    }
}

/// Histories of customers, each in an app of its own, in both environments.
private struct Histories {
    let all: [(app: AppScope, history: History)]
    /// One for each notification.
    let posts: [AppStorePost]
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
                AppStorePost(
                    id: AppStorePost.id(notification.uuid, of: app),
                    body: try notification.body(of: app.bundleID, in: app.environment, signedBy: signer.jws))
            }
        }
    }

    func received(_ history: History) -> [HistoryNotification] { Self.notifications(of: history, until: now) }

    private static func notifications(of history: History, until now: Timestamp) -> [HistoryNotification] {
        history.notifications.filter { $0.signedDate < now }
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
