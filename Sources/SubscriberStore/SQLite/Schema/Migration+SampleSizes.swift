extension Migration {
    /// The size of each sample of `share`.
    static let sampleSizes = Migration(
        name: "sample sizes",
        sql: """
            CREATE TABLE sample_size (
                app INTEGER NOT NULL REFERENCES app,
                -- The name of the sample.
                sample TEXT NOT NULL,
                -- The share of customers in the sample, such as 0.9.
                share TEXT NOT NULL,
                since INTEGER NOT NULL,
                PRIMARY KEY (app, sample)
            ) STRICT, WITHOUT ROWID;
            """)
}
