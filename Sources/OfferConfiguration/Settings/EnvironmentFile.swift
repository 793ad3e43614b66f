package import OfferCore

/// A strict reader of environment files (`.env`) with one `NAME=value` per line. It never silently skips an invalid
/// line.
///
/// - Empty lines and lines that start with `#` are ignored. `export` may precede a name.
/// - An unquoted value ends at the end of its line, or at a `#` after white space.
/// - In `'single quotes'` every character is literal. In `"double quotes"` `\n`, `\r`, `\t`, `\"`, `\\` and `\$` are
///   escape sequences as in a shell or in C; any other `\` is literal. A quoted value, such as a key, can span several
///   lines.
/// - Variables are not expanded: `$HOME` is taken literally.
package enum EnvironmentFile {
    /// The maximum file size, in bytes.
    package static let maximumSize = 64 * 1024

    /// - Parameter name: the file name to use in error messages.
    /// - Returns: the values that could be read, and the problems with their line numbers. A problem never quotes the
    ///   text, because it may be a key.
    package static func read(
        _ text: [UInt8], name: String
    ) -> (values: [String: String], problems: [Diagnostic]) {
        guard let text = String(validating: text, as: UTF8.self) else {
            return ([:], [Diagnostic("\(name) is not UTF-8", hint: "save it as UTF-8")])
        }
        var reader = Reader(text: text)
        var values: [String: String] = [:]
        var problems: [Diagnostic] = []
        while !reader.isAtEnd {
            do throws(Fault) {
                guard let (variable, value) = try reader.next() else { break }
                guard values[variable] == nil else { throw .duplicateName }
                values[variable] = value
            } catch {
                problems.append(Diagnostic("\(name), line \(reader.line): \(error.rawValue)", hint: error.hint))
                // Otherwise, an unquoted value of many lines would cause one problem per line.
                if error != .duplicateName { reader.skipToNextName() }
            }
        }
        return (values, problems)
    }

    private enum Fault: String, Error {
        case noPair = "this is not NAME=value"
        case unclosedQuote = "the quotes are not closed"
        case textBehindQuotes = "text follows the closing quotes"
        case duplicateName = "this name is set twice"

        var hint: String {
            switch self {
            case .noPair: "put multi-line values, such as keys, in quotes"
            case .unclosedQuote: "close them, or remove them"
            case .textBehindQuotes: "only a comment may follow them; write \\\" for a quote inside quotes"
            case .duplicateName: "remove one of them"
            }
        }
    }

    private struct Reader {
        private var rest: Substring
        /// The line on which the last pair began, counted from 1.
        private(set) var line = 1
        private var lineOfRest = 1

        init(text: String) {
            let lines = text.replacing("\r\n", with: "\n")
            rest = lines.hasPrefix("\u{FEFF}") ? lines.dropFirst() : lines[...]
        }

        var isAtEnd: Bool { rest.isEmpty }

        /// Skips to the next line that starts with `NAME=`.
        mutating func skipToNextName() {
            skipLine()
            while !rest.isEmpty {
                var line = self
                line.skipBlanks()
                if !line.name().isEmpty, line.take() == "=" { return }
                skipLine()
            }
        }

        mutating func next() throws(Fault) -> (variable: String, value: String)? {
            while !rest.isEmpty {
                line = lineOfRest
                skipBlanks()
                if rest.first == "#" || rest.first == "\n" || rest.isEmpty {
                    skipLine()
                } else {
                    return try pair()
                }
            }
            return nil
        }

        private mutating func pair() throws(Fault) -> (variable: String, value: String) {
            var variable = name()
            if variable == "export" {
                skipBlanks()
                variable = name()
            }
            skipBlanks()
            guard !variable.isEmpty, rest.first == "=" else { throw .noPair }
            _ = take()
            skipBlanks()
            switch rest.first {
            case "'", "\"":
                let quote = take()
                let value = try quoted(until: quote)
                skipBlanks()
                guard rest.first == nil || rest.first == "\n" || rest.first == "#" else { throw .textBehindQuotes }
                skipLine()
                return (variable, value)
            default:
                return (variable, unquoted())
            }
        }

        private mutating func name() -> String {
            let name = rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
            rest.removeFirst(name.count)
            return name.first?.isNumber == true ? "" : String(name)
        }

        private mutating func quoted(until quote: Character?) throws(Fault) -> String {
            var value = ""
            while let character = take() {
                if character == quote { return value }
                if character == "\\", quote == "\"", let escaped = rest.first.flatMap({ Self.escapes[$0] }) {
                    _ = take()
                    value.append(escaped)
                } else {
                    value.append(character)
                }
            }
            throw .unclosedQuote
        }

        private mutating func unquoted() -> String {
            var value = ""
            while let next = rest.first, next != "\n" {
                if next == "#", value.isEmpty || value.last?.isBlank == true { break }
                value.append(next)
                _ = take()
            }
            skipLine()
            while value.last?.isBlank == true { value.removeLast() }
            return value
        }

        private mutating func take() -> Character? {
            let character = rest.popFirst()
            if character == "\n" { lineOfRest += 1 }
            return character
        }

        private mutating func skipBlanks() { rest = rest.drop(while: \.isBlank) }

        private mutating func skipLine() {
            while let character = take(), character != "\n" {}
        }

        private static let escapes: [Character: Character] = [
            "n": "\n", "r": "\r", "t": "\t", "\"": "\"", "\\": "\\", "$": "$",
        ]
    }
}

extension Character {
    /// True if this is a space or a tab.
    fileprivate var isBlank: Bool { self == " " || self == "\t" }
}
