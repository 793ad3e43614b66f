/// The connection settings of the PostgreSQL engine.
package struct PostgreSQLSettings: Sendable {
    /// A connection URL, which may contain a password.
    package let url: String
    /// The number of connections for changes.
    package let writers: Int
    /// The number of connections for reads.
    package let readers: Int

    package init(url: String, writers: Int = 4, readers: Int = 4) {
        self.url = url
        self.writers = writers
        self.readers = readers
    }
}
