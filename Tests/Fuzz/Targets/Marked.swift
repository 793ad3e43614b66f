import OfferCore

/// A string that marks secrets in inputs. Our own messages never contain it, so output that does quotes the input.
enum Marked {
    static let text = "MarkedSecret"

    static func isIn(_ text: String) -> Bool { text.utf8.contains(Self.text.utf8) }

    static func isIn(_ problems: [Diagnostic]) -> Bool { problems.contains { isIn($0.error) || isIn($0.hint) } }
}
