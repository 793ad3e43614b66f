import OfferCore
import OfferEligibility

/// The size of each sample, as it was when the service first ran with it.
enum SampleSizeTable {
    /// Records the size of a sample, unless one is known.
    static func add(_ size: SampleSize, _ app: Int64, _ db: any Database) throws {
        try db.send(
            "INSERT INTO sample_size (app, sample, share, since) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
            [app, size.sample, "\(size.share)", size.since.milliseconds])
    }

    /// Returns the sizes of all samples.
    static func all(_ db: any Database) throws -> [SampleSize] {
        try db.rows(
            """
            SELECT sample_size.*, bundle_id, environment FROM sample_size JOIN app ON app.id = app ORDER BY app, sample
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
