/// Tells whether a `Content-Type` (RFC 9110 section 8.3) announces JSON in UTF-8.
enum MediaType {
    static func isJSON(_ contentType: String) -> Bool {
        if contentType == "application/json" { return true }
        var parts = contentType.split(separator: ";", omittingEmptySubsequences: false).map(trimmed)
        guard parts.removeFirst().lowercased() == "application/json" else { return false }
        return parts.allSatisfy { parameter in
            let lowerCase = parameter.lowercased()
            // RFC 8259 knows no other encoding, and no other parameter changes what the bytes mean.
            return !lowerCase.hasPrefix("charset") || lowerCase == "charset=utf-8" || lowerCase == "charset=\"utf-8\""
        }
    }

    private static func trimmed(_ text: Substring) -> Substring {
        text.drop { $0 == " " || $0 == "\t" }.reversedDrop { $0 == " " || $0 == "\t" }
    }
}

extension Substring {
    fileprivate func reversedDrop(while isDropped: (Character) -> Bool) -> Substring {
        var rest = self
        while let last = rest.last, isDropped(last) { rest.removeLast() }
        return rest
    }
}
