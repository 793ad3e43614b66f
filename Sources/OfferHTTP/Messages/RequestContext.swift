package import Logging

/// The identifiers attached to every log line and response of a request.
package struct RequestContext: Hashable, Sendable {
    package let id: RequestID
    /// The trace that the request belongs to; nil if there is none.
    package let traceID: TraceID?

    /// Creates a context from header values. Malformed values are ignored.
    /// - Parameters:
    ///   - requestID: the value of the `X-Request-ID` header.
    ///   - traceparent: the value of the `traceparent` header.
    package init(requestID: String? = nil, traceparent: String? = nil) {
        id = requestID.flatMap { RequestID($0) } ?? RequestID()
        traceID = traceparent.flatMap { TraceID(traceparent: $0) }
    }

    /// Adds the identifiers to `more`, the metadata of a log line.
    package func metadata(_ more: Logger.Metadata = [:]) -> Logger.Metadata {
        var metadata = more
        metadata["requestID"] = "\(id.text)"
        if let traceID { metadata["traceID"] = "\(traceID.text)" }
        return metadata
    }
}
