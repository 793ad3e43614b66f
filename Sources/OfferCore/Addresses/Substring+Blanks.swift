extension Substring {
    /// Without the spaces and tabs at its ends (`OWS`, RFC 9110 section 5.6.3).
    package var withoutBlanks: Substring {
        var rest = drop(while: Self.isBlank)
        while let last = rest.last, Self.isBlank(last) { rest.removeLast() }
        return rest
    }

    private static func isBlank(_ character: Character) -> Bool { character == " " || character == "\t" }
}
