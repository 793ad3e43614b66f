import OfferCore

/// Recognises media types in a `Content-Type` header (RFC 9110 section 8.3).
package enum MediaType {
    /// Returns true if `contentType` announces JSON in UTF-8.
    package static func isJSON(_ contentType: String) -> Bool {
        if contentType == "application/json" { return true }
        var parts = contentType.split(separator: ";", omittingEmptySubsequences: false).map(\.withoutBlanks)
        guard parts.removeFirst().lowercased() == "application/json" else { return false }
        return parts.allSatisfy { parameter in
            let lowerCase = parameter.lowercased()
            // RFC 8259 allows no other encoding, and no other parameter changes the meaning of the bytes.
            return !lowerCase.hasPrefix("charset") || lowerCase == "charset=utf-8" || lowerCase == "charset=\"utf-8\""
        }
    }
}
