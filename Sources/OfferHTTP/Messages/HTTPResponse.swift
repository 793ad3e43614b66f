import NIOCore

/// An HTTP response (RFC 9110), independent of the connection that carries it.
package struct HTTPResponse: Hashable, Sendable {
    package enum MediaType: String, Sendable {
        case json = "application/json"
        /// RFC 9457.
        case problem = "application/problem+json"
        /// Prometheus' text format.
        case metrics = "text/plain; version=0.0.4; charset=utf-8"
        case html = "text/html; charset=utf-8"
        case css = "text/css; charset=utf-8"
        /// RFC 4180.
        case csv = "text/csv; charset=utf-8; header=present"
        case svg = "image/svg+xml"
    }

    /// A header of a response for browsers.
    package struct Header: Hashable, Sendable {
        let name: String
        let value: String

        /// - Parameter value: sent without control characters, so that it cannot begin another header.
        package init(_ name: StaticString, _ value: String) {
            self.name = name.description
            self.value = String(value.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F })
        }
    }

    package let status: Int
    /// The media type of the content; nil if there is none.
    package let mediaType: MediaType?
    let content: Content
    /// The methods of the `Allow` header of a 405.
    package var allow: [String] = []
    /// The value of the `WWW-Authenticate` header of a 401 or 403.
    package var authenticate: String?
    /// The value of the `Retry-After` header, in seconds.
    package var retryAfter: Int?
    /// The value of the `X-Request-ID` header.
    package var requestID: RequestID?
    /// The time that a browser may keep the response, in seconds; nil if it must not be stored.
    package var lifetime: Int?
    /// True if shared caches may keep the response for its ``lifetime``.
    package var isForEverybody = false
    /// Further headers, such as `Location` and `Set-Cookie`.
    package var browserHeaders: [Header] = []
    /// False if nothing was done, and the same request may soon succeed. A keyed request then keeps no answer.
    package var isFinal = true

    /// The bytes of a body.
    enum Content: Hashable, Sendable {
        case bytes([UInt8])
        /// Sent without copying, regardless of how many responses share it.
        case shared(ByteBuffer)
        /// There is no body, which is not the same as an empty body.
        case none

        var count: Int {
            switch self {
            case .bytes(let bytes): bytes.count
            case .shared(let buffer): buffer.readableBytes
            case .none: 0
            }
        }

        var buffer: ByteBuffer {
            switch self {
            case .bytes(let bytes): ByteBuffer(bytes: bytes)
            case .shared(let buffer): buffer
            case .none: ByteBuffer()
            }
        }
    }

    /// The bytes of a large body that many responses share.
    package struct SharedBody: Sendable {
        let buffer: ByteBuffer

        package init(_ bytes: [UInt8]) {
            buffer = ByteBuffer(bytes: bytes)
        }
    }

    package init(status: Int = 200, mediaType: MediaType = .json, body: [UInt8]) {
        self.status = status
        self.mediaType = mediaType
        content = .bytes(body)
    }

    /// A 204 response: the request succeeded, and there is no content to return.
    package static let noContent = HTTPResponse(withoutContent: 204)

    /// A 304 response: the client has the content already.
    package static let notModified = HTTPResponse(withoutContent: 304)

    private init(withoutContent status: Int) {
        self.status = status
        mediaType = nil
        content = .none
    }

    package init(mediaType: MediaType = .json, sharing body: SharedBody) {
        status = 200
        self.mediaType = mediaType
        content = .shared(body.buffer)
    }

    package var body: [UInt8] {
        switch content {
        case .bytes(let bytes): bytes
        case .shared(let buffer): Array(buffer.readableBytesView)
        case .none: []
        }
    }

    /// The value of the `Content-Length` header; nil for a 204, which must not have one, and for a 304, which may have only
    /// that of the stored response (RFC 9110 section 8.6).
    var contentLength: Int? {
        if case .none = content { nil } else { content.count }
    }

    /// All headers except `Content-Length`, `Date` and `Connection`, which the connection adds.
    package var headers: [(name: String, value: String)] {
        var headers = [
            ("Cache-Control", lifetime.map { "\(isForEverybody ? "public" : "private"), max-age=\($0)" } ?? "no-store")
        ]
        if let mediaType { headers.insert(("Content-Type", mediaType.rawValue), at: 0) }
        if let requestID { headers.append(("X-Request-ID", requestID.text)) }
        return headers + rareHeaders
    }

    /// The headers that offers do not have.
    var rareHeaders: [(name: String, value: String)] {
        var headers: [(name: String, value: String)] = []
        if !allow.isEmpty { headers.append(("Allow", allow.joined(separator: ", "))) }
        if let authenticate { headers.append(("WWW-Authenticate", authenticate)) }
        if let retryAfter { headers.append(("Retry-After", String(retryAfter))) }
        for header in browserHeaders { headers.append((header.name, header.value)) }
        return headers
    }

    /// The reason phrase of a status (RFC 9110 section 15).
    package static func reasonPhrase(for status: Int) -> String {
        switch status {
        case 200: "OK"
        case 202: "Accepted"
        case 204: "No Content"
        case 303: "See Other"
        case 304: "Not Modified"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 410: "Gone"
        case 413: "Content Too Large"
        case 415: "Unsupported Media Type"
        case 421: "Misdirected Request"
        case 422: "Unprocessable Content"
        case 429: "Too Many Requests"
        case 500: "Internal Server Error"
        case 503: "Service Unavailable"
        default: "Unknown"
        }
    }
}
