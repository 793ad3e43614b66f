import AsyncHTTPClient
import NIOCore
import NIOPosix
import NIOSSL

/// Why nothing was fetched that could be a key set.
enum FetchFailure: Error {
    case status(Int)
    case timeout

    /// What is said of an error: never its own text, in which a library may repeat what was asked for.
    static func reason(_ error: any Error) -> String {
        switch error {
        case FetchFailure.status(let status): "status \(status)"
        case FetchFailure.timeout, ChannelError.connectTimeout: "no whole answer in time"
        case let error as HTTPClientError where timeouts.contains(error): "no whole answer in time"
        case is NIOTooManyBytesError: "more than \(KeySetReader.maximumSize) bytes"
        case let error as NIOConnectionError:
            error.dnsAError != nil && error.dnsAAAAError != nil
                ? "its name is not known" : reason(of: error.connectionErrors.map(\.error))
        case is IOError: reason(of: [error])
        case NIOSSLError.handshakeFailed(.sslError(let errors))
        where errors.contains { "\($0)".contains("CERTIFICATE_VERIFY_FAILED") }:
            "its certificate is not trusted"
        case let error as NIOSSLExtraError where error == .failedToValidateHostname:
            "its certificate is for another name"
        case is NIOSSLError: "TLS 1.2 or newer did not come about"
        default: "another failure"
        }
    }

    private static let timeouts: [HTTPClientError] = [
        .connectTimeout, .readTimeout, .deadlineExceeded, .tlsHandshakeTimeout,
    ]

    /// - Parameter errors: one of each address that was tried.
    private static func reason(of errors: [any Error]) -> String {
        errors.contains { ($0 as? IOError)?.errnoCode == ECONNREFUSED }
            ? "the connection was refused" : "it cannot be reached"
    }
}
