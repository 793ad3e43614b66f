package import AppStoreData
import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOPosix
import OfferCrypto

/// An HTTP client that exchanges OCSP requests for responses.
package final class OCSPClient: Sendable {
    private let client: HTTPClient
    private let timeout: Duration

    /// - Parameter timeout: how long a complete response may take, with the connection before it.
    package init(timeout: Duration = .seconds(10)) {
        self.timeout = timeout
        var configuration = HTTPClient.Configuration(
            // Only the host that the certificate names is asked.
            redirectConfiguration: .disallow,
            decompression: .disabled)
        configuration.httpVersion = .http1Only
        // A connection may take as long as the response; by default, it would end after ten seconds.
        configuration.timeout.connect = TimeAmount(timeout)
        // The caller decides when to ask again.
        configuration.connectionPool.retryConnectionEstablishment = false
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// The function that sends requests with this client, for ``OCSPChecker``.
    package var transport: OCSPTransport {
        { [self] url, request in
            do { return try await exchange(request, with: url) } catch is CancellationError {
                throw CancellationError()
            } catch {
                throw OCSPTransportFailure(Self.reason(error))
            }
        }
    }

    /// Closes all connections. Call it after the last request.
    package func close() async { try? await client.shutdown() }

    private struct Timeout: Error {}

    private func exchange(_ request: [UInt8], with url: String) async throws -> OCSPReply {
        try await withThrowingTaskGroup(of: OCSPReply.self) { group in
            group.addTask { try await self.post(request, to: url) }
            // The client's own timeouts restart with every received byte.
            group.addTask { [timeout] in
                try await Task.sleep(for: timeout)
                throw Timeout()
            }
            defer { group.cancelAll() }
            guard let reply = try await group.next() else { throw Timeout() }
            return reply
        }
    }

    private func post(_ body: [UInt8], to url: String) async throws -> OCSPReply {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: OCSPRequest.mediaType)
        request.headers.add(name: "Accept", value: "application/ocsp-response")
        request.body = .bytes(body)
        let response = try await client.execute(request, deadline: .distantFuture)
        let bytes = try await response.body.collect(upTo: OCSPResponse.maximumSize)
        return OCSPReply(status: Int(response.status.code), body: Array(buffer: bytes))
    }

    /// Describes an error without quoting its message, because a library may include the URL in it.
    private static func reason(_ error: any Error) -> String {
        switch error {
        case is Timeout: "the OCSP responder sent no complete response in time"
        case let error as HTTPClientError where error == .connectTimeout:
            "the OCSP responder sent no complete response in time"
        case is NIOTooManyBytesError: "the OCSP responder sent more than \(OCSPResponse.maximumSize) bytes"
        case let error as NIOConnectionError where error.dnsAError != nil && error.dnsAAAAError != nil:
            "the OCSP responder's host name was not found"
        default: "the OCSP responder could not be reached"
        }
    }
}
