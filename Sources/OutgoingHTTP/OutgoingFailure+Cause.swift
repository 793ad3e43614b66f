import AsyncHTTPClient
import NIOCore
import NIOPosix
import NIOSSL

extension OutgoingFailure {
    /// Makes the failure from an error of the HTTP library. The error's message is dropped, because it may quote the
    /// URL.
    /// - Parameter maximum: the maximum size of the response, in bytes.
    init(_ error: any Error, maximum: Int) {
        self =
            switch error {
            case let failure as OutgoingFailure: failure
            case is CancellationError, ChannelError.connectTimeout: .timedOut
            case let error as HTTPClientError where Self.timeouts.contains(error): .timedOut
            case is NIOTooManyBytesError: .tooLarge(maximum: maximum)
            case let error as NIOConnectionError:
                error.dnsAError != nil && error.dnsAAAAError != nil
                    ? .hostNotFound : Self.connection(error.connectionErrors.map(\.error))
            case is IOError: Self.connection([error])
            case NIOSSLError.handshakeFailed(.sslError(let errors))
            where errors.contains { "\($0)".contains("CERTIFICATE_VERIFY_FAILED") }:
                .untrustedCertificate
            case let error as NIOSSLExtraError where error == .failedToValidateHostname: .certificateOfAnotherHost
            case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError: .noTLS
            default: .incompleteResponse
            }
    }

    private static let timeouts: [HTTPClientError] = [
        .connectTimeout, .readTimeout, .deadlineExceeded, .tlsHandshakeTimeout,
    ]

    /// - Parameter errors: one error for each address that was tried.
    private static func connection(_ errors: [any Error]) -> Self {
        errors.contains { ($0 as? IOError)?.errnoCode == ECONNREFUSED } ? .connectionRefused : .hostUnreachable
    }
}
