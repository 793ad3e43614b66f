/// An HTTP request to another server.
package struct OutgoingRequest: Sendable {
    package let method: String
    package let url: String
    /// The headers, which are sent in this order after `User-Agent`.
    package let headers: [(name: String, value: String)]
    /// The body; nil for none.
    package let body: [UInt8]?
    /// The maximum size of the response's body, in bytes.
    package let maximumResponse: Int
    /// True if only the status matters. A body that is too large or incomplete is then omitted from the response.
    package let ignoresBody: Bool

    /// - Parameter method: a method such as `GET`.
    package init(
        _ method: String, _ url: String, headers: [(name: String, value: String)] = [], body: [UInt8]? = nil,
        maximumResponse: Int, ignoresBody: Bool = false
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.maximumResponse = maximumResponse
        self.ignoresBody = ignoresBody
    }
}

/// A complete HTTP response with any status.
package struct IncomingResponse: Sendable {
    package let status: Int
    /// All header fields, in order of arrival.
    package let headers: [(name: String, value: String)]
    package let body: [UInt8]

    package init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Returns the first value of a header, as received.
    /// - Parameter name: the name in any letter case.
    package func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}
