package import OfferCore

/// A problem with a configuration file, and its place.
package struct FileProblem: Hashable, Sendable {
    /// From 1; nil if the problem has no line, as with a file that is not UTF-8.
    package let line: Int?
    /// The problem with its path in the file, but without the line. Without a line, it is about the whole file, whose name
    /// comes before it: `is empty`.
    package let error: String
    /// The remedy.
    package let hint: String

    init(line: Int?, _ error: String, hint: String) {
        self.line = line
        self.error = error.printable
        self.hint = hint.printable
    }

    /// The problem in a message that stands alone.
    /// - Parameter name: the name of the file.
    package func diagnostic(in name: String) -> Diagnostic {
        Diagnostic(line.map { "\(name), line \($0): \(error)" } ?? "\(name) \(error)", hint: hint)
    }
}
