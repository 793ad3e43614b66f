import AppStoreTestSupport
import NIOConcurrencyHelpers
import OfferCore
import OfferEligibility
import SubscriberStore
import Testing

/// Everything in the database of an intake, read while no service runs.
struct StoredIntake {
    private let faults: [String]
    private let intakes: [Intake]
    private let notifications: [NotificationEntry]
    private let facts: [SubscriberFact]

    init(path: String) async throws {
        let store = try SQLiteStore(SQLiteSettings(path: path))
        faults = try await store.check()
        intakes = try await store.intakes()
        let records = NIOLockedValueBox<[StoreRecord]>([])
        try await store.forEachRecord { record throws(StoreError) in records.withLockedValue { $0.append(record) } }
        let all = records.withLockedValue { $0 }
        notifications = all.compactMap { if case .notification(let entry) = $0 { entry } else { nil } }
        facts = all.compactMap { if case .fact(_, let fact) = $0 { fact } else { nil } }
        try store.close()
    }

    var uuids: [String] { notifications.map { $0.notification.notificationUUID.description } }

    /// Expects that every acknowledged notification is stored, each stored one once and whole, and that the facts are those
    /// of the stored notifications and no others.
    func verify(acknowledged: [String], of planned: [PlannedNotification]) throws {
        #expect(faults == [])
        let stored = Set(uuids)
        #expect(stored.isSuperset(of: acknowledged), "lost: \(Set(acknowledged).subtracting(stored))")
        #expect(stored.count == notifications.count, "stored twice")
        let sources = planned.filter { stored.contains($0.uuid) && $0.hasPurchase }
        let others = planned.filter { stored.contains($0.uuid) && !$0.hasPurchase }.map(\.uuid)
        try #require(sources.count + others.count == stored.count, "more is stored than was planned")
        #expect(
            notifications.allSatisfy { entry in
                let isOther = others.contains(entry.notification.notificationUUID.description)
                return entry.body?.count ?? 0 > (isOther ? 4000 : 10_000)
            })
        let originals = Set(sources.map(\.originalTransactionID))
        #expect(intakes.map(\.notifications) == (stored.isEmpty ? [] : [stored.count]))
        #expect(intakes.map(\.subscriptions) == (stored.isEmpty ? [] : [originals.count]))

        #expect(Set(facts.map(\.key)).count == facts.count, "a fact is there twice")
        // The transaction is signed 37 milliseconds before the notification, and the renewal info 10.
        #expect(dates(of: .transaction) == latest(sources, by: \.transactionID, minus: 37))
        #expect(dates(of: .renewalInfo) == latest(sources, by: \.originalTransactionID, minus: 10))
        #expect(dates(of: .status) == latest(sources, by: \.originalTransactionID, minus: 0))
    }

    private func dates(of kind: SubscriberFact.Kind) -> [String: Int64] {
        let pairs = facts.filter { $0.key.kind == kind }.map {
            ($0.key.id.text.description, $0.signedDate.milliseconds)
        }
        return Dictionary(pairs) { max($0, $1) }
    }

    /// The signing dates that facts must have, by ID.
    private func latest(
        _ sources: [PlannedNotification], by id: KeyPath<PlannedNotification, String>, minus milliseconds: Int64
    ) -> [String: Int64] {
        Dictionary(sources.map { ($0[keyPath: id], $0.signedDate - milliseconds) }) { max($0, $1) }
    }
}
