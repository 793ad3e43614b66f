extension Migration {
    /// The same change as ``Migration/sampleSizes``, which explains the columns.
    static let sampleSizesInPostgreSQL = Migration(
        name: "sample sizes",
        sql: """
            CREATE TABLE sample_size (
                app BIGINT NOT NULL REFERENCES app,
                sample TEXT NOT NULL,
                share TEXT NOT NULL,
                since BIGINT NOT NULL,
                PRIMARY KEY (app, sample)
            )
            """)
}
