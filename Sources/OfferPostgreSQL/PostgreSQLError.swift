/// Why the server, or the way to it, failed.
package struct PostgreSQLError: Error, Hashable, Sendable {
    /// The SQLSTATE, such as `40001`; nil if the server did not say anything.
    package let state: String?
    /// What is safe to show: never a value or a password.
    package let message: String

    package init(state: String?, message: String) {
        self.state = state
        self.message = message
    }

    /// Whether prepared statements do not fit the tables any more, because a newer version of the program has changed them.
    var isOutdated: Bool { ["0A000", "26000"].contains(state) }
}
