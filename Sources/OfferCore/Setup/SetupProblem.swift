/// Something that is wrong with how the service is set up, in words for its operator. It never holds a secret.
package struct SetupProblem: Error, Hashable, Sendable {
    /// What is wrong.
    package let error: String
    /// What to do.
    package let hint: String

    package init(_ error: String, hint: String) {
        self.error = Self.printable(error)
        self.hint = Self.printable(hint)
    }

    /// The names of files may hold anything, line ends among it, which would look like lines of the log.
    private static func printable(_ text: String) -> String {
        String(
            text.map {
                $0.isNewline
                    || $0.unicodeScalars.contains { [.control, .format].contains($0.properties.generalCategory) }
                    ? "?" : $0
            })
    }
}
