extension Migration {
    /// The same change as ``Migration/unannouncedOffers``, which explains the column.
    static let unannouncedOffersInPostgreSQL = Migration(
        name: "unannounced offers",
        sql: "ALTER TABLE subscription ADD COLUMN lacks_announcements BIGINT NOT NULL DEFAULT 1")
}
