/// Text that customers, apps or other systems have set. It may be in any script and of any length.
enum UserText {
    /// The maximum number of bytes that are shown of one text. Facts have at most as many.
    static let maximumBytes = 1024

    /// The text in a `<bdi>`, so that a right-to-left text does not reorder what is around it.
    static func text(_ text: String) -> HTML {
        let shown = prefix(of: text)
        guard shown.count < text.utf8.count else { return "<bdi>\(text)</bdi>" }
        return """
            <bdi>\(String(shown))</bdi>… \
            <span class="note">(\(Words.grouped(Int64(text.utf8.count))) bytes in all)</span>
            """
    }

    /// An identifier to select and copy.
    static func code(_ text: String) -> HTML {
        "<code>\(Self.text(text))</code>"
    }

    /// The first bytes of a text as whole scalars, for places without markup, such as the title of a page.
    static func short(_ text: String, bytes: Int) -> String {
        let shown = prefix(of: text, bytes: bytes)
        return shown.count < text.utf8.count ? String(shown) + "…" : text
    }

    private static func prefix(of text: String, bytes: Int = maximumBytes) -> Substring.UTF8View {
        let utf8 = text.utf8
        guard utf8.count > bytes else { return text[...].utf8 }
        var end = utf8.index(utf8.startIndex, offsetBy: bytes)
        while end > utf8.startIndex, UTF8.isContinuation(utf8[end]) { utf8.formIndex(before: &end) }
        return text[..<end].utf8
    }
}

extension String {
    fileprivate init(_ utf8: Substring.UTF8View) { self = String(Substring(utf8)) }
}
