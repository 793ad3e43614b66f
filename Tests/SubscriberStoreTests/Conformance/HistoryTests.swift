import AppStoreData
import Foundation
import OfferCore
import OfferEligibility
import SubscriberStore
import TestSupport
import Testing

@testable import HistoryTestSupport

/// `STORE_HISTORIES` asks for more histories.
@Suite("A store takes in whole histories", .timeLimit(.minutes(60)))
struct HistoryTests {
    private static let count = ProcessInfo.processInfo.environment["STORE_HISTORIES"].flatMap { Int($0) } ?? 60

    @Test(
        "in any order, repeated, and through two processes at once, they leave what a small reference leaves",
        arguments: StoreEngine.all)
    func anyOrder(engine: StoreEngine) async throws {
        var random = SplitMix64(seed: 18)
        var reference = ReferenceStore()
        var arrivals: [Arrival] = []
        var histories: [(app: AppScope, history: History)] = []
        for seed in 0..<UInt64(Self.count) {
            // Each is a customer of an app of its own. The identifiers in both environments, and in all apps, are the same.
            let bundleID = try BundleID(utf8: Array("com.example.app\(seed)".utf8))
            for (place, environment) in [AppStoreEnvironment.production, .sandbox].enumerated() {
                let history = try History(seed: 2 * seed + UInt64(place), environment: environment)
                let app = AppScope(bundleID: bundleID, environment: environment)
                histories.append((app, history))
                arrivals += try Self.arrivals(of: history, in: app, &random)
            }
        }
        for arrival in arrivals { reference.take(arrival) }
        for (app, history) in histories {
            // A history does not say what was announced and then replaced.
            let facts = SubscriberFacts(reference.facts(in: app).filter { !$0.key.kind.isAnnouncement })
            let state = SubscriberState(of: facts, environment: app.environment, at: history.end)
            let differences = try history.differences(state, at: history.end)
            #expect(differences == [], "\(app.bundleID.text)")
        }
        let shuffled = arrivals.shuffled(using: &random)
        try await engine.withSharedStore { stores in
            try await Self.deliver(shuffled, to: stores)
            let expected = reference.records.map { String(decoding: $0.line, as: UTF8.self) }.sorted()
            let found = try await stores[0].records()
            let missing = Set(expected).subtracting(found)
            #expect(missing.isEmpty, "\(missing.count) records are missing, such as \(missing.first ?? "")")
            let wrong = Set(found).subtracting(expected)
            #expect(wrong.isEmpty, "\(wrong.count) records are wrong, such as \(wrong.first ?? "")")
            #expect(found == expected)
            let redemptions = try await stores[0].redemptions(after: 0, limit: 100_000)
            #expect(redemptions.count > Self.count / 2)
            let byApp = Dictionary(grouping: redemptions, by: \.app).mapValues { $0.map(\.summary).sorted() }
            for (app, _) in histories {
                let expected = Redemption.promotional(in: Array(reference.facts(in: app))).filter(\.isCertain)
                #expect((byApp[app] ?? []) == expected.map(\.summary).sorted(), "\(app.bundleID.text)")
            }
            #expect(try await stores[0].check() == [])
        }
    }

    /// Everything that arrives of a history: each notification once or twice, the whole again from the notification history, and
    /// what devices have.
    private static func arrivals(
        of history: History, in app: AppScope, _ random: inout SplitMix64
    ) throws -> [Arrival] {
        let notifications = try history.notifications.map { notification in
            let read = try notification.read(of: app.bundleID, in: app.environment)
            let delay = Int64.random(in: 0..<600_000_000, using: &random)
            let record = NotificationRecord(
                notificationUUID: read.notification.notificationUUID, type: notification.type,
                subtype: notification.subtype, signedDate: notification.signedDate,
                receivedAt: Timestamp(milliseconds: notification.signedDate.milliseconds + delay))
            return Arrival.notification(
                Delivery(app: app, notification: record, body: read.notification.json, facts: try read.facts))
        }
        var arrivals = notifications + notifications
        for notification in notifications where Int.random(in: 0..<3, using: &random) == 0 {
            arrivals.append(notification)
        }
        for fact in try history.copies(&random) { arrivals.append(.facts([fact], app)) }
        for fact in history.facts where Int.random(in: 0..<5, using: &random) == 0 {
            arrivals.append(.facts([signedAgain(fact, &random)], app))
        }
        for case .notification(let delivery) in notifications where Int.random(in: 0..<3, using: &random) == 0 {
            arrivals.append(.facts(delivery.facts.map(readByOlderVersion), app))
        }
        return arrivals
    }

    /// The same at the same time in another text, so that the digest alone tells which one stays.
    private static func signedAgain(_ fact: SubscriberFact, _ random: inout SplitMix64) -> SubscriberFact {
        SubscriberFact(
            fact.value, transactionID: fact.key.id, originalTransactionID: fact.originalTransactionID,
            signedDate: fact.signedDate, digest: (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) })
    }

    /// The same JWS with fewer members.
    private static func readByOlderVersion(_ fact: SubscriberFact) -> SubscriberFact {
        guard case .transaction(var purchase) = fact.value else { return fact }
        (purchase.storefront, purchase.additionalReason) = (nil, nil)
        return SubscriberFact(
            .transaction(purchase), transactionID: fact.key.id, originalTransactionID: fact.originalTransactionID,
            signedDate: fact.signedDate, digest: fact.digest)
    }

    /// Two tasks for each store take turns.
    private static func deliver(_ arrivals: [Arrival], to stores: [any SubscriberStore]) async throws {
        let tasks = 2 * stores.count
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<tasks {
                group.addTask {
                    for place in stride(from: task, to: arrivals.count, by: tasks) {
                        switch arrivals[place] {
                        case .notification(let delivery): _ = try await stores[task % stores.count].apply(delivery)
                        case .facts(let facts, let app):
                            try await stores[task % stores.count].merge(facts, in: app)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}

extension LedgerRedemption {
    fileprivate var summary: String {
        "\(originalTransactionID?.text.description ?? "") \(offerID) \(productID.text) \(at.milliseconds)"
    }
}

extension Redemption {
    fileprivate var summary: String {
        "\(originalTransactionID.text) \(offerID) \(productID.text) \(at.milliseconds)"
    }
}

private enum Arrival: Sendable {
    case notification(Delivery)
    case facts([SubscriberFact], AppScope)
}

/// What a store is to contain, worked out from everything that arrived, without any order.
private struct ReferenceStore {
    private struct Key: Hashable {
        let app: AppScope
        /// Announcements of two subscriptions may have equal keys.
        let original: TransactionID
        let key: SubscriberFact.Key
    }

    private var copies: [Key: [SubscriberFact]] = [:]
    private var others: Set<StoreRecord> = []

    mutating func take(_ arrival: Arrival) {
        switch arrival {
        case .facts(let facts, let app): take(facts, in: app)
        case .notification(let delivery):
            let subscriptions = Set(delivery.facts.map(\.originalTransactionID))
            others.insert(
                .notification(
                    NotificationEntry(
                        app: delivery.app, notification: delivery.notification, body: delivery.body,
                        subscriptions: Array(subscriptions), forwards: [])))
            take(delivery.facts, in: delivery.app)
        }
    }

    private mutating func take(_ facts: [SubscriberFact], in app: AppScope) {
        for fact in facts + facts.announcements {
            let original = fact.originalTransactionID
            copies[Key(app: app, original: original, key: fact.key), default: []].append(fact)
            if let account = fact.appAccountToken {
                others.insert(.identifier(app, .appAccountToken(account), of: original))
            }
            if let account = fact.appTransactionID {
                others.insert(.identifier(app, .appTransactionID(account), of: original))
            }
        }
    }

    /// Of each key the copy that was signed last, and of first announcements the first; of two signed at once, the one with the
    /// greater digest; of two readings of one JWS, the longer one.
    private var kept: [(app: AppScope, fact: SubscriberFact)] {
        copies.compactMap { key, copies in
            copies.max { one, other in
                guard one.signedDate == other.signedDate else {
                    return (one.signedDate < other.signedDate) == (key.key.kind != .firstAnnouncement)
                }
                guard one.digest == other.digest else { return one.digest.lexicographicallyPrecedes(other.digest) }
                return one.encoded.count < other.encoded.count
            }.map { (key.app, $0) }
        }
    }

    func facts(in app: AppScope) -> SubscriberFacts { SubscriberFacts(kept.filter { $0.app == app }.map(\.fact)) }

    var records: [StoreRecord] {
        let kept = kept
        return kept.map { .fact($0.app, $0.fact) } + others + intakes(kept)
    }

    private func intakes(_ kept: [(app: AppScope, fact: SubscriberFact)]) -> [StoreRecord] {
        var notifications: [AppScope: [NotificationRecord]] = [:]
        for case .notification(let entry) in others { notifications[entry.app, default: []].append(entry.notification) }
        return Set(kept.map(\.app)).union(notifications.keys).map { app in
            let received = notifications[app] ?? []
            return .intake(
                Intake(
                    app: app, notifications: received.count,
                    subscriptions: Set(kept.filter { $0.app == app }.map(\.fact.originalTransactionID)).count,
                    erasedSubscriptions: 0, lastReceivedAt: received.map(\.receivedAt).max(),
                    lastSignedDate: received.map(\.signedDate).max()))
        }
    }
}
