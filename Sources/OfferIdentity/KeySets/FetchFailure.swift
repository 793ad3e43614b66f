import AsyncHTTPClient
import NIOCore
import NIOPosix
import NIOSSL

/// The reason fetching a key set failed.
enum FetchFailure: Error {
    case status(Int)
    case timeout

    /// Describes an error without quoting its message, because a library may include the URL in it.
    static func reason(_ error: any Error) -> String {
        switch error {
        case FetchFailure.status(let status): "status \(status)"
        case FetchFailure.timeout, ChannelError.connectTimeout: "no complete response in time"
        case let error as HTTPClientError where timeouts.contains(error): "no complete response in time"
        case is NIOTooManyBytesError: "more than \(KeySetReader.maximumSize) bytes"
        case let error as NIOConnectionError:
            error.dnsAError != nil && error.dnsAAAAError != nil
                ? "host name not found" : reason(of: error.connectionErrors.map(\.error))
        case is IOError: reason(of: [error])
        case NIOSSLError.handshakeFailed(.sslError(let errors))
        where errors.contains { "\($0)".contains("CERTIFICATE_VERIFY_FAILED") }:
            "certificate not trusted"
        case let error as NIOSSLExtraError where error == .failedToValidateHostname:
            "certificate for another host name"
        case is NIOSSLError: "TLS 1.2 or newer could not be negotiated"
        default: "unknown failure"
        }
    }

    private static let timeouts: [HTTPClientError] = [
        .connectTimeout, .readTimeout, .deadlineExceeded, .tlsHandshakeTimeout,
    ]

    /// - Parameter errors: one error per address that was tried.
    private static func reason(of errors: [any Error]) -> String {
        errors.contains { ($0 as? IOError)?.errnoCode == ECONNREFUSED }
            ? "connection refused" : "host unreachable"
    }
}
