/// Something that is wrong with how the service is set up, in words for its operator. It never holds a secret.
package struct SetupProblem: Error, Hashable, Sendable {
    /// What is wrong.
    package let error: String
    /// What to do.
    package let hint: String

    package init(_ error: String, hint: String) {
        self.error = error.printable
        self.hint = hint.printable
    }
}
