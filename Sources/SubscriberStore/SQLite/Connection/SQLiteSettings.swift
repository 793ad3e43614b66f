/// The settings for opening a SQLite database.
package struct SQLiteSettings: Sendable {
    /// The path of the database file. The files next to it have the same name followed by `-wal` or `-shm`.
    package let path: String
    /// The maximum time that a change waits for another process's lock.
    package let lockTimeout: Duration
    /// Called with every statement, for tests.
    package let trace: (@Sendable (String) -> Void)?

    package init(
        path: String, lockTimeout: Duration = .seconds(2), trace: (@Sendable (String) -> Void)? = nil
    ) {
        self.path = path
        self.lockTimeout = lockTimeout
        self.trace = trace
    }
}
