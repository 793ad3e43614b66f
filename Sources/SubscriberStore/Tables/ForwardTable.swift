import Foundation
import OfferCore
import OfferEligibility

/// The outbox. Among the notifications that wait for the same receiver and are about the same subscription, only the first
/// is due, and so among the events of a customer.
enum ForwardTable {
    struct Entry {
        let id: Int64
        let receiver: Int64
        let subscription: Int64?
        /// The first subscription of an event's customer; nil for a notification.
        let customer: Int64?
        let isDead: Bool

        init(_ row: Row) throws {
            id = try row["id"]
            receiver = try row["receiver"]
            subscription = try row["subscription"]
            customer = try row["customer"]
            isDead = (try row["died_at"] as Int64?) != nil
        }
    }

    /// - Parameter subscription: nil if the notification names no subscription. Its order then does not matter.
    static func add(
        _ payload: Int64, to receiver: Int64, about subscription: Int64?, receivedAt: Timestamp, failures: Int = 0,
        diedAt: Timestamp? = nil, _ db: any Database
    ) throws {
        let waits = try diedAt != nil || first(receiver, subscription, db) != nil
        try db.send(
            """
            INSERT INTO forward (payload, receiver, subscription, failures, due_at, died_at) VALUES (?, ?, ?, ?, ?, ?)
            """,
            [
                payload, receiver, subscription, failures, waits ? nil : receivedAt.milliseconds, diedAt?.milliseconds,
            ])
        try ReceiverTable.count(pending: diedAt == nil ? 1 : 0, dead: diedAt == nil ? 0 : 1, receiver, db)
    }

    /// Adds an event of the customer of a subscription.
    static func add(
        _ event: SettledReview.Event, to receiver: Int64, of customer: Int64, _ app: Int64, at now: Timestamp,
        _ db: any Database
    ) throws {
        let waits = try firstEvent(receiver, customer, db) != nil
        try db.send(
            """
            INSERT INTO forward (event, app, body, created_at, receiver, customer, due_at) VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            [
                event.id.bytes, app, event.body, now.milliseconds, receiver, customer, waits ? nil : now.milliseconds,
            ])
        try ReceiverTable.count(pending: 1, dead: 0, receiver, db)
    }

    static func entry(_ id: Int64, _ db: any Database) throws -> Entry? {
        try db.row("SELECT * FROM forward WHERE id = ?", [id]).map { try Entry($0) }
    }

    static func all(of payload: Int64, _ db: any Database) throws -> [Entry] {
        try db.rows("SELECT * FROM forward WHERE payload = ?", [payload]).map(Entry.init)
    }

    /// Removes an entry, so that the next entry about the same subscription is due.
    static func delete(_ entry: Entry, _ db: any Database) throws {
        try db.send("DELETE FROM forward WHERE id = ?", [entry.id])
        try ReceiverTable.count(pending: entry.isDead ? 0 : -1, dead: entry.isDead ? -1 : 0, entry.receiver, db)
        if !entry.isDead { try advance(entry, db) }
    }

    /// Removes the events of the customers of a subscription.
    static func deleteEvents(of customer: Int64, _ db: any Database) throws {
        for event in try events(of: customer, db) { try delete(Entry(event), db) }
    }

    /// Removes those events of the customers of a subscription that name one of the given accounts, or no account.
    static func deleteEvents(
        of customer: Int64, naming accounts: Set<CustomerIdentifier>, _ db: any Database
    ) throws {
        for event in try events(of: customer, db) {
            // A body that cannot be read is removed.
            let names = try EventNames(event)
            if names.isAnonymous || accounts.contains(where: names.contains) { try delete(Entry(event), db) }
        }
    }

    /// Moves the events of a customer to the queue of the subscription that represents the customer now.
    /// - Parameter account: nil for a customer without an account.
    static func moveEvents(
        of customer: Int64, naming account: CustomerIdentifier?, to target: Int64, _ db: any Database
    ) throws {
        var receivers: Set<Int64> = []
        for event in try events(of: customer, db) {
            let names = try EventNames(event)
            guard account.map(names.contains) ?? names.isAnonymous else { continue }
            let entry = try Entry(event)
            try db.send("UPDATE forward SET customer = ? WHERE id = ?", [target, entry.id])
            receivers.insert(entry.receiver)
        }
        for receiver in receivers {
            for queue in [customer, target] {
                // Only the first entry of a queue is due.
                guard let first = try firstEvent(receiver, queue, db) else { continue }
                try db.send(
                    """
                    UPDATE forward SET due_at = NULL
                    WHERE receiver = ? AND customer = ? AND event IS NOT NULL AND died_at IS NULL AND id != ?
                    """, [receiver, queue, first])
                try db.send("UPDATE forward SET due_at = created_at WHERE id = ? AND due_at IS NULL", [first])
            }
        }
    }

    /// The names of the customer in the body of an event.
    private struct EventNames {
        private struct Event: Decodable {
            let customer: [String: String]
        }

        private let names: [String: String]

        init(_ event: Row) throws {
            let body: [UInt8] = try event["body"]
            names = (try? JSONDecoder().decode(Event.self, from: Data(body)).customer) ?? [:]
        }

        var isAnonymous: Bool { names["appAccountToken"] == nil && names["applicationUsername"] == nil }

        func contains(_ account: CustomerIdentifier) -> Bool {
            names[account.kind.rawValue] == String(decoding: account.utf8, as: UTF8.self)
        }
    }

    private static func events(of customer: Int64, _ db: any Database) throws -> [Row] {
        try db.rows("SELECT * FROM forward WHERE customer = ? AND event IS NOT NULL", [customer])
    }

    /// Removes dead events that were found before a time.
    static func deleteDeadEvents(before time: Timestamp, limit: Int, _ db: any Database) throws {
        let entries = try db.rows(
            "SELECT * FROM forward WHERE event IS NOT NULL AND died_at IS NOT NULL AND created_at < ? LIMIT ?",
            [time.milliseconds, limit])
        for entry in entries { try delete(Entry(entry), db) }
    }

    /// Records a failed attempt.
    static func postpone(_ entry: Entry, to nextAttempt: Timestamp, _ db: any Database) throws {
        // An earlier dead letter may have been revived in the meantime.
        let waits = try first(like: entry, db).map { $0 != entry.id } ?? false
        try db.send(
            "UPDATE forward SET failures = failures + 1, due_at = ? WHERE id = ?",
            [waits ? nil : nextAttempt.milliseconds, entry.id])
    }

    static func bury(_ entry: Entry, at time: Timestamp, _ db: any Database) throws {
        try db.send(
            "UPDATE forward SET failures = failures + 1, due_at = NULL, died_at = ? WHERE id = ?",
            [time.milliseconds, entry.id])
        try ReceiverTable.count(pending: -1, dead: 1, entry.receiver, db)
        try advance(entry, db)
    }

    /// Returns the oldest waiting entries that were received before a time.
    static func oldest(
        _ receiver: Int64, receivedBefore time: Timestamp, limit: Int, _ db: any Database
    ) throws -> [Entry] {
        try db.rows(
            """
            SELECT forward.*, coalesce(payload.received_at, forward.created_at) AS began_at
            FROM forward LEFT JOIN payload ON payload.notification = forward.payload
            WHERE receiver = ? AND died_at IS NULL ORDER BY forward.id LIMIT ?
            """, [receiver, limit]
        ).filter { try $0.requiredTime("began_at") < time }.map(Entry.init)
    }

    /// Revives dead entries, oldest first.
    /// - Returns: the `id`s of the revived entries.
    static func revive(after id: Int64, at now: Timestamp, limit: Int, _ db: any Database) throws -> [Int64] {
        let entries = try db.rows(
            "SELECT * FROM forward WHERE died_at IS NOT NULL AND id > ? ORDER BY id LIMIT ?", [id, limit]
        ).map(Entry.init)
        for entry in entries {
            try db.send(
                "UPDATE forward SET died_at = NULL, failures = 0, due_at = ? WHERE id = ?",
                [now.milliseconds, entry.id])
            try ReceiverTable.count(pending: 1, dead: -1, entry.receiver, db)
            guard let first = try first(like: entry, db) else { continue }
            // Only the first entry of a queue is due.
            let queue = entry.customer == nil ? "subscription = ?" : "customer = ? AND event IS NOT NULL"
            try db.send(
                "UPDATE forward SET due_at = NULL WHERE receiver = ? AND \(queue) AND died_at IS NULL AND id != ?",
                [entry.receiver, entry.customer ?? entry.subscription, first])
            try db.send(
                "UPDATE forward SET due_at = ? WHERE id = ? AND due_at IS NULL", [now.milliseconds, first])
        }
        return entries.map(\.id)
    }

    /// Makes the first remaining entry of an entry's queue due.
    private static func advance(_ entry: Entry, _ db: any Database) throws {
        guard let first = try first(like: entry, db) else { return }
        try db.send(
            """
            UPDATE forward
            SET due_at = coalesce((SELECT received_at FROM payload WHERE notification = payload), created_at)
            WHERE id = ? AND due_at IS NULL
            """, [first])
    }

    /// Returns the first waiting entry of an entry's queue.
    private static func first(like entry: Entry, _ db: any Database) throws -> Int64? {
        guard let customer = entry.customer else { return try first(entry.receiver, entry.subscription, db) }
        return try firstEvent(entry.receiver, customer, db)
    }

    private static func firstEvent(_ receiver: Int64, _ customer: Int64, _ db: any Database) throws -> Int64? {
        try db.number(
            """
            SELECT id FROM forward WHERE customer = ? AND receiver = ? AND event IS NOT NULL AND died_at IS NULL
            ORDER BY id LIMIT 1
            """, [customer, receiver])
    }

    private static func first(_ receiver: Int64, _ subscription: Int64?, _ db: any Database) throws -> Int64? {
        guard let subscription else { return nil }
        return try db.number(
            """
            SELECT id FROM forward WHERE receiver = ? AND subscription = ? AND died_at IS NULL ORDER BY id LIMIT 1
            """, [receiver, subscription])
    }
}
