/// A problem with the service's setup, worded for its operator. It never contains a secret.
package struct Diagnostic: Error, Hashable, Sendable {
    /// The problem.
    package let error: String
    /// The remedy.
    package let hint: String

    package init(_ error: String, hint: String) {
        self.error = error.printable
        self.hint = hint.printable
    }
}
