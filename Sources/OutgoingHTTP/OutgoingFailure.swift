/// The reason that a request to another server received no complete response.
///
/// The description is a predicate, such as `refused the connection`. The server is its subject.
package enum OutgoingFailure: Error, Hashable, Sendable {
    case timedOut
    /// The response is larger than this many bytes.
    case tooLarge(maximum: Int)
    case hostNotFound
    case connectionRefused
    case hostUnreachable
    /// The server's certificate is not signed by a trusted root, or is not valid now.
    case untrustedCertificate
    case certificateOfAnotherHost
    /// TLS 1.2 or later could not be negotiated.
    case noTLS
    /// The connection ended before the response was complete, or the response is not HTTP.
    case incompleteResponse
}

extension OutgoingFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .timedOut: "sent no complete response in time"
        case .tooLarge(let maximum): "sent more than \(maximum) bytes"
        case .hostNotFound: "was not found by its host name"
        case .connectionRefused: "refused the connection"
        case .hostUnreachable: "could not be reached"
        case .untrustedCertificate: "has a TLS certificate that is not trusted"
        case .certificateOfAnotherHost: "has a TLS certificate for another host name"
        case .noTLS: "could not negotiate TLS 1.2 or later"
        case .incompleteResponse: "ended the connection early, or did not answer in HTTP"
        }
    }
}
