/// A failure of the server or of the connection to it.
package struct PostgreSQLError: Error, Hashable, Sendable {
    /// The SQLSTATE, such as `40001`; nil if the server sent no error.
    package let state: String?
    /// The message, which is safe to show because it never contains a value or a password.
    package let message: String

    package init(state: String?, message: String) {
        self.state = state
        self.message = message
    }

    /// True if prepared statements no longer fit the tables, because a newer version of the program changed the tables.
    var isOutdated: Bool { ["0A000", "26000"].contains(state) }
}
