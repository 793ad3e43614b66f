import AppStoreData
import Foundation
import OfferCore
import OfferEligibility
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@testable import HistoryTestSupport

/// `STORE_HISTORIES` asks for more apps, each with two customers, as `scripts/soak histories` does.
@Suite("A store takes in whole histories", .timeLimit(.minutes(600)))
struct HistoryTests {
    private static let count = ProcessInfo.processInfo.environment["STORE_HISTORIES"].flatMap { Int($0) } ?? 60

    @Test(
        "in any order, repeated, and through two processes at once, they leave what a small reference leaves",
        arguments: StoreEngine.all)
    func anyOrder(engine: StoreEngine) async throws {
        let world = try World(count: Self.count)
        let facts = world.reference.facts
        for (app, history) in world.histories {
            // A history does not say what was announced and then replaced.
            let facts = SubscriberFacts(facts[app, default: SubscriberFacts()].filter { !$0.key.kind.isAnnouncement })
            let state = SubscriberState(of: facts, environment: app.environment, at: history.end)
            let differences = try history.differences(state, at: history.end)
            #expect(differences == [], "\(app.bundleID.text)")
        }
        try await engine.withSharedStore { stores in
            try await Self.deliver(world.arrivals, to: stores)
            let expected = world.reference.records.map { String(decoding: $0.line, as: UTF8.self) }.sorted()
            let found = try await stores[0].records()
            let missing = Set(expected).subtracting(found)
            #expect(missing.isEmpty, "\(missing.count) records are missing, such as \(missing.first ?? "")")
            let wrong = Set(found).subtracting(expected)
            #expect(wrong.isEmpty, "\(wrong.count) records are wrong, such as \(wrong.first ?? "")")
            #expect(found == expected)
            let redemptions = try await stores[0].redemptions(after: 0, limit: 1_000_000)
            #expect(redemptions.count > Self.count / 2)
            let byApp = Dictionary(grouping: redemptions, by: \.app).mapValues { $0.map(\.summary).sorted() }
            let certain = world.redemptions
            for (app, _) in world.histories {
                #expect((byApp[app] ?? []) == certain[app]?.map(\.summary).sorted(), "\(app.bundleID.text)")
            }
            #expect(try await stores[0].check() == [])
        }
    }

    @Test(
        "with a signature for each redemption of a purchaser, the alarm stays silent, and the totals are exact",
        arguments: StoreEngine.all)
    func alarm(engine: StoreEngine) async throws {
        let world = try World(count: Self.count)
        let redemptions = try world.redeemed()
        try await engine.withSharedStore { stores in
            for (app, redemptions) in redemptions {
                try await stores[0].add(Self.signatures(for: redemptions, in: app))
            }
            try await stores[0].beginLedger(LedgerCoverage(apps: Set(redemptions.keys)), at: Timestamp(milliseconds: 0))
            try await Self.deliver(world.arrivals, to: stores)
            let alarms = try await stores[0].unexplainedRedemptions(in: Set(redemptions.keys), limit: 9)
            #expect(alarms == [])
            var (states, totals): ([Authorisation.State: Int], [String: Int64]) = ([:], [:])
            for case .authorisation(_, let entry) in try await stores[0].everyRecord() {
                states[entry.authorisation.state, default: 0] += 1
            }
            #expect(states == [.redeemed: redemptions.values.joined().count])
            for activity in try await stores[0].offerActivity(since: Timestamp(milliseconds: 0))
            where activity.redeemed > 0 {
                totals["\(activity.app) \(activity.productID.text) \(activity.offerID)"] = activity.redeemed
            }
            let expected = redemptions.flatMap { app, redemptions in
                redemptions.map { ("\(app) \($0.productID.text) \($0.offerID.text)", Int64(1)) }
            }
            #expect(totals == Dictionary(expected, uniquingKeysWith: +))
            #expect(try await stores[0].check() == [])
        }
    }

    /// A signature for each redemption, from an hour before to an hour after it.
    private static func signatures(for redemptions: [World.Redeemed], in app: AppScope) -> [StoreRecord] {
        redemptions.enumerated().map { number, redemption in
            let authorisation = Authorisation(
                productID: redemption.productID, offerID: redemption.offerID, state: .outstanding,
                at: redemption.at - .hours(1), expiresAt: redemption.at + .hours(1))
            return .authorisation(
                app,
                AuthorisationEntry(
                    id: Sample.nonce(UInt64(number)), authorisation: authorisation,
                    holders: [.originalTransactionID(redemption.original)]))
        }
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

/// Histories, each of a customer in an app of its own, and what arrives of them in random order.
private struct World {
    var reference = ReferenceStore()
    private(set) var arrivals: [Arrival] = []
    private(set) var histories: [(app: AppScope, history: History)] = []

    /// - Parameter count: of the apps. Each has a customer in each environment.
    init(count: Int) throws {
        var random = SplitMix64(seed: 18)
        for seed in 0..<UInt64(count) {
            // The identifiers in both environments, and in all apps, are the same.
            let bundleID = try BundleID(utf8: Array("com.example.app\(seed)".utf8))
            for (place, environment) in [AppStoreEnvironment.production, .sandbox].enumerated() {
                let history = try History(seed: 2 * seed + UInt64(place), environment: environment)
                let app = AppScope(bundleID: bundleID, environment: environment)
                histories.append((app, history))
                arrivals += try Self.arrivals(of: history, in: app, &random)
            }
        }
        for arrival in arrivals { reference.take(arrival) }
        arrivals.shuffle(using: &random)
    }

    /// The redemptions of promotional offers, of purchasers alone.
    var redemptions: [AppScope: [Redemption]] {
        let facts = reference.facts
        return Dictionary(
            uniqueKeysWithValues: histories.map { app, history in
                // The histories themselves say which subscriptions others pay for.
                let shares = Set(history.lives.filter(\.isShared).map(\.original))
                let redemptions = Redemption.promotional(in: Array(facts[app, default: SubscriberFacts()]))
                let certain = redemptions.filter { redemption in
                    redemption.isCertain && !shares.contains(redemption.originalTransactionID.text.description)
                }
                return (app, certain)
            })
    }

    /// An offer that a customer redeemed.
    struct Redeemed {
        let original: TransactionID
        let productID: ProductID
        let offerID: OfferID
        let at: Timestamp
    }

    /// The promotional offers that purchasers redeemed, as the histories themselves know it, without any facts.
    func redeemed() throws -> [AppScope: [Redeemed]] {
        try Dictionary(
            uniqueKeysWithValues: histories.map { app, history in
                let redeemed = try history.lives.filter { !$0.isShared }.flatMap { life in
                    try life.redemptions.map { redemption in
                        Redeemed(
                            original: try TransactionID(life.original), productID: try ProductID(redemption.product),
                            offerID: try OfferID(utf8: Array(redemption.offerID.utf8)), at: redemption.at)
                    }
                }
                return (app, redeemed)
            })
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

    var facts: [AppScope: SubscriberFacts] {
        Dictionary(grouping: kept, by: \.app).mapValues { SubscriberFacts($0.map(\.fact)) }
    }

    var records: [StoreRecord] {
        let kept = kept
        return kept.map { .fact($0.app, $0.fact) } + others + intakes(kept)
    }

    private func intakes(_ kept: [(app: AppScope, fact: SubscriberFact)]) -> [StoreRecord] {
        var notifications: [AppScope: [NotificationRecord]] = [:]
        for case .notification(let entry) in others { notifications[entry.app, default: []].append(entry.notification) }
        let kept = Dictionary(grouping: kept, by: \.app)
        return Set(kept.keys).union(notifications.keys).map { app in
            let received = notifications[app] ?? []
            return .intake(
                Intake(
                    app: app, notifications: received.count,
                    subscriptions: Set(kept[app, default: []].map(\.fact.originalTransactionID)).count,
                    erasedSubscriptions: 0, lastReceivedAt: received.map(\.receivedAt).max(),
                    lastSignedDate: received.map(\.signedDate).max()))
        }
    }
}
