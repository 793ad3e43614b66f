import OfferCore
import OfferEligibility

/// The next review of each customer whose events are sent, by subscription. The customer's first subscription represents
/// the customer.
enum ReviewTable {
    /// Makes the review of a subscription's customer due, if the app's events are sent.
    static func mark(_ subscription: Int64, _ db: any Database) throws {
        try db.send(
            """
            INSERT INTO customer_review (subscription, app, due_at)
            SELECT subscription.id, subscription.app, 0
            FROM subscription JOIN reviewed_app ON reviewed_app.app = subscription.app WHERE subscription.id = ?
            ON CONFLICT (subscription) DO UPDATE SET due_at = 0, version = customer_review.version + 1
            """, [subscription])
    }

    /// Makes the review of a subscription's customer due.
    static func mark(_ original: TransactionID, _ app: Int64, _ db: any Database) throws {
        try db.send(
            """
            UPDATE customer_review SET due_at = 0, version = version + 1 WHERE subscription =
                (SELECT id FROM subscription WHERE app = ? AND original_transaction_id = ?)
            """, [app, original.string])
    }

    /// Makes the review of a subscription's customer due because of a change of another subscription.
    static func remind(_ original: TransactionID, _ app: Int64, _ db: any Database) throws {
        try db.send(
            """
            UPDATE customer_review SET due_at = 1, version = version + 1
            WHERE subscription = (SELECT id FROM subscription WHERE app = ? AND original_transaction_id = ?)
                AND (due_at IS NULL OR due_at > 1)
            """, [app, original.string])
    }

    /// Begins to review an app. If the rules have changed, makes the reviews of all customers due, in steps.
    static func begin(_ app: Int64, by rules: String, at now: Timestamp, _ db: any Database) throws {
        let last = try SubscriptionTable.numbers(of: app, db)?.upperBound ?? 0
        try db.send(
            """
            INSERT INTO reviewed_app (app, since, last_subscription, rules, enrolled, enrolling)
            VALUES (?1, ?2, ?3, ?4, 0, ?3)
            ON CONFLICT (app) DO UPDATE SET rules = excluded.rules, enrolled = 0, enrolling = excluded.enrolling
            WHERE reviewed_app.rules != excluded.rules
            """, [app, now.milliseconds, last, rules])
    }

    struct App {
        let since: Timestamp
        let lastSubscription: Int64
        let rules: String
        let enrolled: Int64
        let enrolling: Int64
    }

    static func app(_ app: Int64, _ db: any Database) throws -> App? {
        try db.row("SELECT * FROM reviewed_app WHERE app = ?", [app]).map { row in
            App(
                since: try row.requiredTime("since"), lastSubscription: try row["last_subscription"],
                rules: try row["rules"],
                enrolled: try row["enrolled"], enrolling: try row["enrolling"])
        }
    }

    /// Returns true if an app is reviewed, or if reviews of it are left.
    static func isKnown(_ app: Int64, _ db: any Database) throws -> Bool {
        try self.app(app, db) != nil
            || db.number("SELECT 1 FROM customer_review WHERE app = ? LIMIT 1", [app]) != nil
    }

    static func isEnrolling(_ app: AppScope, _ db: any Database) throws -> Bool {
        try AppTable.id(of: app, db).flatMap { try self.app($0, db) }.map { $0.enrolled < $0.enrolling } ?? false
    }

    /// Makes the reviews of the next subscriptions due, after those of customers whose records changed.
    static func enrol(_ numbers: ClosedRange<Int64>, _ app: Int64, _ db: any Database) throws {
        try db.send(
            """
            INSERT INTO customer_review (subscription, app, due_at)
            SELECT id, app, 1 FROM subscription WHERE +app = ? AND id BETWEEN ? AND ?
            ON CONFLICT (subscription) DO UPDATE SET due_at = 1
            WHERE customer_review.due_at IS NULL OR customer_review.due_at > 1
            """, [app, numbers.lowerBound, numbers.upperBound])
        try db.send("UPDATE reviewed_app SET enrolled = ? WHERE app = ?", [numbers.upperBound, app])
    }

    /// Lists due reviews, the most overdue first.
    static func due(
        _ app: Int64, by now: Timestamp, limit: Int, _ db: any Database
    ) throws -> [(subscription: Int64, state: String?, version: Int64, isChanged: Bool)] {
        try db.rows(
            """
            SELECT subscription, state, version, due_at FROM customer_review
            WHERE app = ? AND due_at IS NOT NULL AND due_at <= ? ORDER BY due_at, subscription LIMIT ?
            """, [app, now.milliseconds, limit]
        ).map { row in
            (
                subscription: try row["subscription"], state: try row["state"], version: try row["version"],
                isChanged: try row["due_at"] as Int64 == 0
            )
        }
    }

    /// Returns the oldest planned time of a due review.
    static func oldestDue(_ app: Int64, by now: Timestamp, _ db: any Database) throws -> Timestamp? {
        // 0 stands for a changed record, and 1 for a customer to be looked at again.
        try db.number(
            """
            SELECT due_at FROM customer_review WHERE app = ? AND due_at IS NOT NULL AND due_at > 1 AND due_at <= ?
            ORDER BY due_at LIMIT 1
            """, [app, now.milliseconds]
        ).map(Timestamp.init(milliseconds:))
    }

    /// Records a review, unless the customer's records have changed.
    /// - Returns: false if nothing was recorded.
    static func settle(
        _ review: DueReview, _ states: ReviewStates?, next: Timestamp?, _ db: any Database
    ) throws -> Bool {
        try db.change(
            """
            UPDATE customer_review SET state = ?, due_at = ?, version = version + 1 WHERE subscription = ? AND version = ?
            """,
            [try states.map { try $0.json }, next?.milliseconds, review.subscription, review.version]) > 0
    }

    /// Adds what reviews of another subscription found, because this one represents its customer now. A review of this one
    /// that is being made is made again.
    static func add(_ states: ReviewStates, to subscription: Int64, _ db: any Database) throws {
        let known = try db.row("SELECT state FROM customer_review WHERE subscription = ?", [subscription])
        let before = try (known?["state"] as String?).map { try ReviewStates(json: $0) }
        try db.send(
            "UPDATE customer_review SET state = ?, version = version + 1 WHERE subscription = ?",
            [try (before?.adding(states) ?? states).json, subscription])
    }

    /// Returns the states that reviews of some subscriptions found, in the order of the subscriptions.
    static func states(of originals: Set<TransactionID>, _ app: Int64, _ db: any Database) throws -> [ReviewStates] {
        guard let last = originals.first else { return [] }
        // A power of two, so that there are few statements.
        var count = 1
        while count < originals.count { count *= 2 }
        let names = originals + Array(repeating: last, count: count - originals.count)
        return try db.rows(
            """
            SELECT state FROM customer_review JOIN subscription ON subscription.id = customer_review.subscription
            WHERE subscription.app = ? AND state IS NOT NULL
                AND original_transaction_id IN (\(names.map { _ in "?" }.joined(separator: ", ")))
            ORDER BY subscription.id
            """, [app] + names.map(\.string)
        ).map { try ReviewStates(json: $0["state"]) }
    }

    /// Removes the planned reviews of an app whose events are no longer sent.
    /// - Returns: false if none is left.
    static func remove(_ app: Int64, limit: Int, _ db: any Database) throws -> Bool {
        try db.send("DELETE FROM reviewed_app WHERE app = ?", [app])
        return try db.change(
            """
            DELETE FROM customer_review WHERE subscription IN
                (SELECT subscription FROM customer_review WHERE app = ? LIMIT ?)
            """, [app, limit]) == limit
    }

    /// Returns the states of the customers whose first subscriptions have a number in a range.
    static func states(
        of app: Int64, _ numbers: ClosedRange<Int64>, _ db: any Database
    ) throws -> [(original: TransactionID, states: ReviewStates)] {
        try db.rows(
            """
            SELECT original_transaction_id, state FROM customer_review
                JOIN subscription ON subscription.id = customer_review.subscription
            WHERE +customer_review.app = ? AND customer_review.subscription BETWEEN ? AND ?
                AND due_at IS NOT NULL AND state IS NOT NULL
            """, [app, numbers.lowerBound, numbers.upperBound]
        ).map {
            (original: try $0.transactionID("original_transaction_id"), states: try ReviewStates(json: $0["state"]))
        }
    }
}
