import OfferPostgreSQL

/// The inspection of a database without changing it.
enum PostgreSQLInspection {
    /// Returns the number of the last migration applied; nil if there are no tables yet.
    static func version(url: String) throws(StoreError) -> Int? {
        do {
            let connection = try PostgreSQLConnection.open(PostgreSQLServer(url: url))
            try PostgreSQLSchema.requireOurs(connection)
            let version = try PostgreSQLSchema.version(connection)
            return version > 0 ? version : nil
        } catch { throw StoreError(error) }
    }
}
