import OfferCore

/// A text that stands for a secret in an input. Nothing of ours is called so, so where it turns up it was repeated.
enum Marked {
    static let text = "MarkedSecret"

    static func isIn(_ text: String) -> Bool { text.utf8.contains(Self.text.utf8) }

    static func isIn(_ problems: [SetupProblem]) -> Bool { problems.contains { isIn($0.error) || isIn($0.hint) } }
}
