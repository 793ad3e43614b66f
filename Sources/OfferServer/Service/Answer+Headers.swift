import HTTPTypes

extension Answer {
    /// Every header of the answer but those that the carrier adds (`Content-Length`, `Date`).
    var headers: HTTPFields {
        var fields: HTTPFields = [.contentType: mediaType.rawValue, .cacheControl: "no-store"]
        if !allow.isEmpty { fields[.allow] = allow.joined(separator: ", ") }
        if let retryAfter { fields[.retryAfter] = String(retryAfter) }
        return fields
    }
}
