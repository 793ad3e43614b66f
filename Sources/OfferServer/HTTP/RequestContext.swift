package import Logging

/// What everything that is written about one request says of it.
package struct RequestContext: Hashable, Sendable {
    package let id: RequestID

    /// - Parameter requestID: the value of the one `X-Request-ID` header; one that is not well-formed counts for nothing.
    package init(requestID: String? = nil) {
        id = requestID.flatMap { RequestID($0) } ?? RequestID()
    }

    package init(id: RequestID) {
        self.id = id
    }

    /// What a line of the log says beside it. Made where it is asked for, which the log does only if there is to be a line.
    package func metadata(_ more: Logger.Metadata = [:]) -> Logger.Metadata {
        var metadata = more
        metadata["requestID"] = "\(id.text)"
        return metadata
    }
}
