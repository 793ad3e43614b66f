/// An HTTP request to the App Store Server API.
package struct APIRequest: Sendable {
    package let url: String
    package let method: String
    /// nil for none.
    package let body: [UInt8]?
    /// The media type of ``body``.
    package let contentType: String
    /// The value of the header `Authorization`; nil for none.
    package let authorization: String?
    /// The most that is read of the response, in bytes. A page of 20 notifications takes about 400 kB.
    package let maximumResponse: Int

    package init(
        url: String, method: String, body: [UInt8]?, contentType: String = "application/json", authorization: String?,
        maximumResponse: Int = 4 * 1024 * 1024
    ) {
        self.url = url
        self.method = method
        self.body = body
        self.contentType = contentType
        self.authorization = authorization
        self.maximumResponse = maximumResponse
    }
}

package struct APIResponse: Sendable {
    package let status: Int
    /// The header `Retry-After` as received.
    package let retryAfter: String?
    /// The header `Date` as received.
    package let date: String?
    package let body: [UInt8]

    package init(status: Int, retryAfter: String? = nil, date: String? = nil, body: [UInt8] = []) {
        self.date = date
        self.status = status
        self.retryAfter = retryAfter
        self.body = body
    }
}

/// The reason there is no response.
package enum TransportFailure: Error, Hashable, Sendable {
    /// The value is half a sentence that quotes nothing of the request.
    case unreachable(String)
    case timedOut
    /// The body is larger than what is read.
    case tooLarge
}

/// Sends a request once and returns the whole response.
package protocol APITransport: Sendable {
    /// - Parameter timeout: for the complete response, with the connection before it.
    func exchange(_ request: APIRequest, timeout: Duration) async throws(TransportFailure) -> APIResponse
}
