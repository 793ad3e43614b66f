package import Logging

/// What everything that is written about one request says of it.
package struct RequestContext: Hashable, Sendable {
    package let id: RequestID
    /// nil where the request is part of no trace.
    package let traceID: TraceID?

    /// Takes what is well-formed; anything else counts for nothing.
    /// - Parameters:
    ///   - requestID: the value of the one `X-Request-ID` header.
    ///   - traceparent: the value of the one `traceparent` header.
    package init(requestID: String? = nil, traceparent: String? = nil) {
        id = requestID.flatMap { RequestID($0) } ?? RequestID()
        traceID = traceparent.flatMap { TraceID(traceparent: $0) }
    }

    /// What a line of the log says beside it. Made where it is asked for, which the log does only if there is to be a line.
    package func metadata(_ more: Logger.Metadata = [:]) -> Logger.Metadata {
        var metadata = more
        metadata["requestID"] = "\(id.text)"
        if let traceID { metadata["traceID"] = "\(traceID.text)" }
        return metadata
    }
}
