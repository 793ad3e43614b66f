/// The settings with which the SQLite engine opens its database.
package struct SQLiteSettings: Sendable {
    /// The path of the database file. The files beside it have the same name with `-wal` and `-shm`.
    package let path: String
    /// The time that a change waits for a lock that another process holds.
    package let lockTimeout: Duration
    /// Called with every statement. For tests.
    package let trace: (@Sendable (String) -> Void)?

    package init(
        path: String, lockTimeout: Duration = .seconds(2), trace: (@Sendable (String) -> Void)? = nil
    ) {
        self.path = path
        self.lockTimeout = lockTimeout
        self.trace = trace
    }
}
