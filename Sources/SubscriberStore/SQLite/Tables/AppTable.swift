import GRDB
import OfferCore

/// An app in one environment, and what has arrived for it.
enum AppTable {
    static func id(of app: AppScope, _ db: Database) throws -> Int64? {
        try db.number(
            "SELECT id FROM app WHERE bundle_id = ? AND environment = ?",
            [app.bundleID.text.description, app.environment.rawValue])
    }

    /// The identifier of the app, which is added if it is new.
    static func makeID(of app: AppScope, _ db: Database) throws -> Int64 {
        if let id = try id(of: app, db) { return id }
        try db.change(
            "INSERT INTO app (bundle_id, environment) VALUES (?, ?)",
            [app.bundleID.text.description, app.environment.rawValue])
        return db.lastInsertedRowID
    }

    static func recoveryCheckpoint(of app: AppScope, _ db: Database) throws -> Timestamp? {
        try db.row(
            "SELECT recovered_until FROM app WHERE bundle_id = ? AND environment = ?",
            [app.bundleID.text.description, app.environment.rawValue])?.time("recovered_until")
    }

    static func setRecoveryCheckpoint(_ time: Timestamp, _ app: Int64, _ db: Database) throws {
        try db.change(
            "UPDATE app SET recovered_until = max(ifnull(recovered_until, ?1), ?1) WHERE id = ?2",
            [time.milliseconds, app])
    }

    /// - Parameter environment: nil for all.
    static func all(
        _ bundleID: BundleID, _ environment: AppStoreEnvironment?, _ db: Database
    ) throws -> [(id: Int64, app: AppScope)] {
        try db.rows("SELECT * FROM app WHERE bundle_id = ?", [bundleID.text.description])
            .map { (id: $0["id"], app: try scope($0)) }
            .filter { environment == nil || $0.app.environment == environment }
    }

    /// All apps by their identifiers.
    static func all(_ db: Database) throws -> [Int64: AppScope] {
        Dictionary(uniqueKeysWithValues: try db.rows("SELECT * FROM app", []).map { ($0["id"], try scope($0)) })
    }

    /// Reads the columns `bundle_id` and `environment`.
    static func scope(_ row: Row) throws -> AppScope {
        do {
            return AppScope(
                bundleID: try BundleID(utf8: Array((row["bundle_id"] as String).utf8)),
                environment: AppStoreEnvironment(rawValue: row["environment"]))
        } catch {
            throw StoreError.unreadable("bundle_id")
        }
    }

    static func count(_ notification: NotificationRecord, _ app: Int64, _ db: Database) throws {
        try db.change(
            """
            UPDATE app SET notifications = notifications + 1,
                last_received_at = max(ifnull(last_received_at, ?1), ?1),
                last_signed_date = max(ifnull(last_signed_date, ?2), ?2)
            WHERE id = ?3
            """, [notification.receivedAt.milliseconds, notification.signedDate.milliseconds, app])
    }

    static func countErased(_ count: Int, _ app: Int64, _ db: Database) throws {
        try db.change("UPDATE app SET erased_subscriptions = erased_subscriptions + ? WHERE id = ?", [count, app])
    }

    static func intakes(_ db: Database) throws -> [Intake] {
        try db.rows("SELECT * FROM app ORDER BY bundle_id, environment", []).map { row in
            Intake(
                app: try scope(row), notifications: row["notifications"], subscriptions: row["subscriptions"],
                erasedSubscriptions: row["erased_subscriptions"], lastReceivedAt: row.time("last_received_at"),
                lastSignedDate: row.time("last_signed_date"))
        }
    }

    /// Raises the counts to those of another store.
    static func raise(to intake: Intake, _ app: Int64, _ db: Database) throws {
        try db.change(
            """
            UPDATE app SET notifications = max(notifications, ?), subscriptions = max(subscriptions, ?),
                erased_subscriptions = max(erased_subscriptions, ?),
                last_received_at = nullif(max(ifnull(last_received_at, -1), ifnull(?, -1)), -1),
                last_signed_date = nullif(max(ifnull(last_signed_date, -1), ifnull(?, -1)), -1)
            WHERE id = ?
            """,
            [
                intake.notifications, intake.subscriptions, intake.erasedSubscriptions,
                intake.lastReceivedAt?.milliseconds, intake.lastSignedDate?.milliseconds, app,
            ])
    }
}
