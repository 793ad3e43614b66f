/// The reason an answer cannot be read. It names members, never their values.
package struct AnswerError: Error, Hashable, Sendable {
    package let reason: String

    package init(_ reason: String) { self.reason = reason }
}
