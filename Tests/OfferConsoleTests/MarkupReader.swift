/// A strict reader of our own pages: every tag is closed in order, and every value is quoted.
struct MarkupReader {
    struct Tag {
        let name: String
        let attributes: [String: String]
    }

    enum Fault: Error {
        case unclosed(String)
        case mismatch(String, open: String?)
        case malformed(String)
    }

    private(set) var tags: [Tag] = []

    init(_ page: String) throws {
        let voids: Set = ["meta", "link", "input", "br"]
        var open: [String] = []
        for piece in page.split(separator: "<").dropFirst() {
            // Escaped text has no `<` and no `>`, so each piece has exactly one `>`.
            let parts = piece.split(separator: ">", omittingEmptySubsequences: false)
            guard parts.count == 2 else { throw Fault.malformed(String(piece.prefix(80))) }
            let inside = parts[0]
            if inside.hasPrefix("!") { continue }
            if inside.hasPrefix("/") {
                guard open.last == String(inside.dropFirst()) else {
                    throw Fault.mismatch(String(inside), open: open.last)
                }
                open.removeLast()
                continue
            }
            let tag = try Self.tag(inside.hasSuffix("/") ? inside.dropLast() : inside)
            tags.append(tag)
            if !voids.contains(tag.name), !inside.hasSuffix("/") { open.append(tag.name) }
        }
        if let last = open.last { throw Fault.unclosed(last) }
    }

    private static func tag(_ text: Substring) throws -> Tag {
        let name = text.prefix { !$0.isWhitespace }
        var attributes: [String: String] = [:]
        var rest = text.dropFirst(name.count).drop { $0.isWhitespace }
        while !rest.isEmpty {
            let key = rest.prefix { $0 != "=" && !$0.isWhitespace }
            rest = rest.dropFirst(key.count)
            var value: Substring = ""
            if rest.hasPrefix("=") {
                guard rest.hasPrefix("=\"") else { throw Fault.malformed(String(text.prefix(80))) }
                value = rest.dropFirst(2).prefix { $0 != "\"" }
                rest = rest.dropFirst(value.count + 3)
            }
            guard attributes.updateValue(String(value), forKey: String(key)) == nil else {
                throw Fault.malformed(String(text.prefix(80)))
            }
            rest = rest.drop { $0.isWhitespace }
        }
        return Tag(name: String(name), attributes: attributes)
    }
}
