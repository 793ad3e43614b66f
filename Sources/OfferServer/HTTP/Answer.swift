/// An HTTP answer, free of the framework that carries it. Every answer also gets `Cache-Control: no-store`.
package struct Answer: Hashable, Sendable {
    package enum MediaType: String, Sendable {
        case json = "application/json"
        /// RFC 9457.
        case problem = "application/problem+json"
    }

    package let status: Int
    package let mediaType: MediaType
    package let body: [UInt8]
    /// The methods for the `Allow` header of a 405.
    package var allow: [String] = []
    /// Seconds for the `Retry-After` header of a 503.
    package var retryAfter: Int?

    package init(status: Int = 200, mediaType: MediaType = .json, body: [UInt8]) {
        self.status = status
        self.mediaType = mediaType
        self.body = body
    }
}
