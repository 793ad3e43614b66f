package import OfferCore

/// Reads an environment file (`.env`): one `NAME=value` a line, strictly, so that no line is passed over in silence.
///
/// - Empty lines and lines that begin with `#` say nothing; `export` may stand in front of a name.
/// - A value without quotes goes to the end of its line, or to a `#` behind white space.
/// - In `'single quotes'` every character stands for itself. In `"double quotes"` `\n`, `\r`, `\t`, `\"`, `\\` and `\$`
///   are what they are in a shell or in C, any other `\` stands for itself. Both kinds may go over several lines, as the
///   text of a key does.
/// - Nothing is filled in: `$HOME` is those five characters.
package enum EnvironmentFile {
    /// The largest file that is read, in bytes.
    package static let maximumSize = 64 * 1024

    /// - Parameter name: what the file is called in a problem.
    /// - Returns: what could be read, and what is wrong in which line, never with any of the text: it may be a key's.
    package static func read(
        _ text: [UInt8], name: String
    ) -> (values: [String: String], problems: [SetupProblem]) {
        guard let text = String(validating: text, as: UTF8.self) else {
            return ([:], [SetupProblem("\(name) is not UTF-8", hint: "save it as UTF-8")])
        }
        var reader = Reader(text: text)
        var values: [String: String] = [:]
        var problems: [SetupProblem] = []
        while !reader.isAtEnd {
            do throws(Fault) {
                guard let (variable, value) = try reader.next() else { break }
                guard values[variable] == nil else { throw .duplicateName }
                values[variable] = value
            } catch {
                problems.append(SetupProblem("\(name), line \(reader.line): \(error.rawValue)", hint: error.hint))
                // The rest of a text that lost its quotes would be one problem a line.
                if error != .duplicateName { reader.skipToNextName() }
            }
        }
        return (values, problems)
    }

    private enum Fault: String, Error {
        case noPair = "this is not NAME=value"
        case unclosedQuote = "these quotes are never closed"
        case textBehindQuotes = "something stands behind the closing quotes"
        case duplicateName = "this name is set a second time"

        var hint: String {
            switch self {
            case .noPair: "a value of several lines, such as a key, has to be in quotes"
            case .unclosedQuote: "close them, or leave them out"
            case .textBehindQuotes: "only a comment may: write \\\" for quotes inside of quotes"
            case .duplicateName: "leave one of the two out"
            }
        }
    }

    private struct Reader {
        private var rest: Substring
        /// Where the last pair began, from 1.
        private(set) var line = 1
        private var lineOfRest = 1

        init(text: String) {
            let lines = text.replacing("\r\n", with: "\n")
            rest = lines.hasPrefix("\u{FEFF}") ? lines.dropFirst() : lines[...]
        }

        var isAtEnd: Bool { rest.isEmpty }

        /// Goes to the next line that begins like `NAME=`.
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
    /// White space that does not end a line.
    fileprivate var isBlank: Bool { self == " " || self == "\t" }
}
