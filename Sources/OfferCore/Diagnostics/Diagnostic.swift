/// A problem with the service's setup, worded for its operator. It never contains a secret.
package struct Diagnostic: Error, Hashable, Sendable {
    /// The problem.
    package let error: String
    /// The remedy.
    package let hint: String
    /// True if a process that starts again would do harm, such as enter a wrong PIN once more.
    package let forbidsRestart: Bool

    package init(_ error: String, hint: String, forbidsRestart: Bool = false) {
        self.error = error.printable
        self.hint = hint.printable
        self.forbidsRestart = forbidsRestart
    }
}
