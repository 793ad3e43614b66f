extension Migration {
    /// The subscriptions of version 0.9.0, which kept no announcements.
    static let unannouncedOffers = Migration(
        name: "unannounced offers",
        sql: """
            -- 1 if announcements may be missing that this version would have kept.
            ALTER TABLE subscription ADD COLUMN lacks_announcements INTEGER NOT NULL DEFAULT 1;
            """)
}
