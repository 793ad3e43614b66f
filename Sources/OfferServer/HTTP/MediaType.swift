import OfferCore

/// Tells whether a `Content-Type` (RFC 9110 section 8.3) announces JSON in UTF-8.
enum MediaType {
    static func isJSON(_ contentType: String) -> Bool {
        if contentType == "application/json" { return true }
        var parts = contentType.split(separator: ";", omittingEmptySubsequences: false).map(\.withoutBlanks)
        guard parts.removeFirst().lowercased() == "application/json" else { return false }
        return parts.allSatisfy { parameter in
            let lowerCase = parameter.lowercased()
            // RFC 8259 knows no other encoding, and no other parameter changes what the bytes mean.
            return !lowerCase.hasPrefix("charset") || lowerCase == "charset=utf-8" || lowerCase == "charset=\"utf-8\""
        }
    }
}
