import OfferCore
import OfferEligibility

/// The apps, each in one environment, and the counts of their intake.
enum AppTable {
    static func id(of app: AppScope, _ db: any Database) throws -> Int64? {
        try db.number(
            "SELECT id FROM app WHERE bundle_id = ? AND environment = ?",
            [app.bundleID.text.description, app.environment.rawValue])
    }

    /// Returns the identifier of the app. Adds the app if it is new.
    static func makeID(of app: AppScope, _ db: any Database) throws -> Int64 {
        if let id = try id(of: app, db) { return id }
        return try db.insert(
            "INSERT INTO app (bundle_id, environment) VALUES (?, ?)",
            [app.bundleID.text.description, app.environment.rawValue])
    }

    static func recoveryCheckpoint(of app: AppScope, _ db: any Database) throws -> Timestamp? {
        try db.row(
            "SELECT recovered_until FROM app WHERE bundle_id = ? AND environment = ?",
            [app.bundleID.text.description, app.environment.rawValue])?.time("recovered_until")
    }

    /// - Parameters:
    ///   - start: the start of the gapless span.
    ///   - continuing: true to keep the known start, if there is one.
    static func setRecoveryCheckpoint(
        _ time: Timestamp, since start: Timestamp, continuing: Bool, _ app: Int64, at now: Timestamp, _ db: any Database
    ) throws {
        try db.send(
            """
            UPDATE app SET recovered_until = ?1, changes_until = ?1,
                recovered_since = CASE WHEN ?5 = 1 THEN coalesce(recovered_since, ?4) ELSE ?4 END,
                changes_since = CASE WHEN coalesce(changes_until, -1) != coalesce(recovered_until, -1) THEN ?1
                    WHEN ?5 = 1 THEN coalesce(changes_since, ?4) ELSE ?4 END
            WHERE id = ?2 AND (recovered_until IS NULL OR recovered_until < ?1 OR recovered_until > ?3)
            """, [time.milliseconds, app, now.milliseconds, start.milliseconds, continuing ? 1 : 0])
    }

    /// - Parameter environment: nil selects all environments.
    static func all(
        _ bundleID: BundleID, _ environment: AppStoreEnvironment?, _ db: any Database
    ) throws -> [(id: Int64, app: AppScope, coverage: HistoryEvidence.Coverage?)] {
        try db.rows("SELECT * FROM app WHERE bundle_id = ?", [bundleID.text.description])
            .map { (id: try $0["id"], app: try scope($0), coverage: try coverage($0)) }
            .filter { environment == nil || $0.app.environment == environment }
    }

    /// Returns all apps by their identifiers.
    static func all(_ db: any Database) throws -> [Int64: AppScope] {
        Dictionary(uniqueKeysWithValues: try db.rows("SELECT * FROM app", []).map { (try $0["id"], try scope($0)) })
    }

    /// Reads the columns `recovered_since`, `recovered_until`, `changes_since` and `changes_until`.
    private static func coverage(_ row: Row) throws -> HistoryEvidence.Coverage? {
        guard let since = try row.time("recovered_since"), let until = try row.time("recovered_until") else {
            return nil
        }
        // An earlier version of the program may have moved the checkpoint. It does not record changes.
        let changesSince = try row.time("changes_until") == until ? try row.time("changes_since") : nil
        return HistoryEvidence.Coverage(since: since, until: until, changesSince: changesSince)
    }

    /// Reads the columns `bundle_id` and `environment`.
    static func scope(_ row: Row) throws -> AppScope {
        do {
            return AppScope(
                bundleID: try BundleID(utf8: Array((try row["bundle_id"] as String).utf8)),
                environment: AppStoreEnvironment(rawValue: try row["environment"]))
        } catch {
            throw StoreError.unreadable("bundle_id")
        }
    }

    static func count(_ notification: NotificationRecord, _ app: Int64, _ db: any Database) throws {
        try add(
            Arrivals(
                notifications: 1, lastReceivedAt: notification.receivedAt, lastSignedDate: notification.signedDate),
            app, db)
    }

    /// The numbers to add to the counts of an app.
    struct Arrivals {
        var notifications = 0
        var subscriptions = 0
        var erasedSubscriptions = 0
        var lastReceivedAt: Timestamp?
        var lastSignedDate: Timestamp?
    }

    /// Adds to the counts of an app. Each connection has its own row, so connections do not wait for each other.
    static func add(_ arrivals: Arrivals, _ app: Int64, _ db: any Database) throws {
        try db.send(
            """
            INSERT INTO app_count (app, shard, notifications, subscriptions, erased_subscriptions, last_received_at,
                last_signed_date)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (app, shard) DO UPDATE
            SET notifications = app_count.notifications + excluded.notifications,
                subscriptions = app_count.subscriptions + excluded.subscriptions,
                erased_subscriptions = app_count.erased_subscriptions + excluded.erased_subscriptions,
                last_received_at = CASE WHEN excluded.last_received_at > coalesce(app_count.last_received_at, -1)
                    THEN excluded.last_received_at ELSE app_count.last_received_at END,
                last_signed_date = CASE WHEN excluded.last_signed_date > coalesce(app_count.last_signed_date, -1)
                    THEN excluded.last_signed_date ELSE app_count.last_signed_date END
            """,
            [
                app, db.shard, arrivals.notifications, arrivals.subscriptions, arrivals.erasedSubscriptions,
                arrivals.lastReceivedAt?.milliseconds, arrivals.lastSignedDate?.milliseconds,
            ])
    }

    /// Returns the intakes of all apps with received data.
    static func intakes(_ db: any Database) throws -> [Intake] {
        try db.rows("\(counts) GROUP BY app.id, bundle_id, environment ORDER BY bundle_id, environment", [])
            .map(intake)
            .filter { $0.notifications > 0 || $0.subscriptions > 0 || $0.erasedSubscriptions > 0 }
    }

    private static let counts = """
        SELECT bundle_id, environment, CAST(coalesce(sum(notifications), 0) AS BIGINT) AS notifications,
            CAST(coalesce(sum(subscriptions), 0) AS BIGINT) AS subscriptions,
            CAST(coalesce(sum(erased_subscriptions), 0) AS BIGINT) AS erased_subscriptions,
            max(last_received_at) AS last_received_at, max(last_signed_date) AS last_signed_date
        FROM app LEFT JOIN app_count ON app_count.app = app.id
        """

    private static func intake(_ row: Row) throws -> Intake {
        Intake(
            app: try scope(row), notifications: try row["notifications"], subscriptions: try row["subscriptions"],
            erasedSubscriptions: try row["erased_subscriptions"], lastReceivedAt: try row.time("last_received_at"),
            lastSignedDate: try row.time("last_signed_date"))
    }

    /// Raises the counts to at least those of another store.
    static func raise(to intake: Intake, _ app: Int64, _ db: any Database) throws {
        let known = try db.row("\(counts) WHERE app.id = ? GROUP BY app.id, bundle_id, environment", [app])
            .map(Self.intake)
        guard let known else { return }
        try add(
            Arrivals(
                notifications: max(0, intake.notifications - known.notifications),
                subscriptions: max(0, intake.subscriptions - known.subscriptions),
                erasedSubscriptions: max(0, intake.erasedSubscriptions - known.erasedSubscriptions),
                lastReceivedAt: intake.lastReceivedAt, lastSignedDate: intake.lastSignedDate),
            app, db)
    }
}
