import OfferCore
import OfferEligibility

/// A request to the App Store Server API, with a function that reads its answer.
package struct APICall<Answer: Sendable>: Sendable {
    package enum Method: String, Sendable { case get = "GET", post = "POST", put = "PUT", delete = "DELETE" }

    package let endpoint: APIEndpoint
    package let method: Method
    /// The path, with a leading slash and percent-encoded segments.
    package let path: String
    /// The names and values of the query, not yet encoded. Names may repeat.
    package let query: [(name: String, value: String)]
    /// The body; nil if the request has none.
    package let body: [UInt8]?
    /// The media type of ``body``.
    package let contentType: String
    /// True if the answer may list thousands of items.
    private let isLarge: Bool
    private let read: @Sendable (AnswerReader) throws(AnswerError) -> Answer

    /// - Parameter path: the segments after the host, not yet encoded.
    init(
        _ endpoint: APIEndpoint, _ method: Method, _ path: [String], query: [(name: String, value: String)] = [],
        body: [UInt8]? = nil, contentType: String = "application/json", isLarge: Bool = false,
        read: @escaping @Sendable (AnswerReader) throws(AnswerError) -> Answer
    ) {
        self.endpoint = endpoint
        self.method = method
        self.path = "/" + path.map(URLText.encoded).joined(separator: "/")
        self.query = query
        self.body = body
        self.contentType = contentType
        self.isLarge = isLarge
        self.read = read
    }

    /// Reads an answer without verifying it.
    package func answer(from json: [UInt8]) throws(AnswerError) -> Answer {
        try read(AnswerReader(json: json, isLarge: isLarge))
    }

    /// The path and the query.
    var target: String {
        guard !query.isEmpty else { return path }
        return path + "?" + query.map { "\($0.name)=\(URLText.encoded($0.value))" }.joined(separator: "&")
    }

    /// True if the request can be sent again after its answer is lost.
    var isRepeatable: Bool {
        // The App Store refuses a repeated upload, because its identifier is already in use.
        ![.testNotification, .startPerformanceTest, .uploadMessage, .uploadImage].contains(endpoint)
    }
}
