import OfferCore
import OfferEligibility

/// The size of each sample, as it was when its first customers were drawn.
enum SampleSizeTable {
    /// Notes the sizes by which an app draws from now on. A sample with exposures keeps its first size.
    static func begin(_ shares: [String: Double], _ app: Int64, at now: Timestamp, _ db: any Database) throws {
        for (sample, share) in shares {
            try db.send(
                """
                INSERT INTO sample_size (app, sample, share, since) VALUES (?, ?, ?, ?)
                ON CONFLICT (app, sample) DO UPDATE SET share = excluded.share, since = excluded.since
                WHERE sample_size.share <> excluded.share AND NOT EXISTS (
                    SELECT 1 FROM exposure WHERE exposure.app = excluded.app AND exposure.sample = excluded.sample)
                """, [app, sample, "\(share)", now.milliseconds])
        }
    }

    /// Adds a size from another store. A known size stays.
    static func add(_ size: SampleSize, _ app: Int64, _ db: any Database) throws {
        try db.send(
            "INSERT INTO sample_size (app, sample, share, since) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
            [app, size.sample, "\(size.share)", size.since.milliseconds])
    }

    /// Returns the sizes of the samples that have exposures.
    static func drawn(_ db: any Database) throws -> [SampleSize] {
        try db.rows(
            """
            SELECT sample_size.*, bundle_id, environment FROM sample_size JOIN app ON app.id = app
            WHERE EXISTS (
                SELECT 1 FROM exposure WHERE exposure.app = sample_size.app AND exposure.sample = sample_size.sample)
            ORDER BY app, sample
            """, []
        ).map(size)
    }

    /// Reads a row with the columns of the app.
    static func size(_ row: Row) throws -> SampleSize {
        guard let share = Double(try row["share"] as String) else { throw StoreError.unreadable("share") }
        return SampleSize(
            app: try AppTable.scope(row), sample: try row["sample"], share: share, since: try row.requiredTime("since"))
    }
}
