extension Substring {
    /// The text without leading and trailing spaces and tabs (`OWS`, RFC 9110 section 5.6.3).
    package var withoutBlanks: Substring {
        var rest = drop(while: Self.isBlank)
        while let last = rest.last, Self.isBlank(last) { rest.removeLast() }
        return rest
    }

    private static func isBlank(_ character: Character) -> Bool { character == " " || character == "\t" }
}
