/// A table as comma-separated values (RFC 4180), in UTF-8 and with a head.
///
/// Spreadsheets take a text that begins with `=`, `+`, `-` or `@` for a formula, also after a tab or a line break, and some
/// take the full-width forms too. Such a text gets an apostrophe in front, and stays a text.
package struct CSV: Sendable {
    package enum Cell: Hashable, Sendable {
        case text(String)
        /// A text for programs other than spreadsheets, without an apostrophe in front of a formula.
        case verbatim(String)
        case number(Int64)
        case empty

        package init(_ text: String?) { self = text.map(Cell.text) ?? .empty }
    }

    package private(set) var text = ""

    /// Creates rows without a head, for the rest of a table.
    package init() {}

    package init(head: [String]) { add(head.map(Cell.text)) }

    package mutating func add(_ cells: [Cell]) {
        text += cells.map(Self.field).joined(separator: ",") + "\r\n"
    }

    private static func field(_ cell: Cell) -> String {
        switch cell {
        case .empty: ""
        case .number(let number): String(number)
        case .verbatim(let text): quoted(text)
        case .text(let text): quoted(isFormula(text) ? "'" + text : text)
        }
    }

    private static func isFormula(_ text: String) -> Bool {
        text.unicodeScalars.first.map { formulaStarts.contains($0) } ?? false
    }

    private static let formulaStarts: Set<Unicode.Scalar> = [
        "=", "+", "-", "@", "\t", "\r", "\n", "\u{FF1D}", "\u{FF0B}", "\u{FF0D}", "\u{FF20}",
    ]

    private static func quoted(_ text: String) -> String {
        // By scalars: a carriage return and a line feed are one character.
        text.unicodeScalars.contains { ",\"\r\n".unicodeScalars.contains($0) }
            ? "\"\(text.replacing("\"", with: "\"\""))\"" : text
    }
}
