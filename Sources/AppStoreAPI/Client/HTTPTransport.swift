import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
package import OfferCore
package import OfferCrypto

/// Sends requests to the App Store over HTTPS.
package final class HTTPTransport: APITransport {
    private let client: HTTPClient

    /// - Parameter roots: trusted beside the system's.
    /// - Throws: a problem for the operator, if a certificate cannot be used.
    package init(roots: [X509Certificate] = []) throws(Diagnostic) {
        var tls = TLSConfiguration.makeClientConfiguration()
        do {
            let roots = try roots.map { try NIOSSLCertificate(bytes: $0.der, format: .der) }
            if !roots.isEmpty { tls.additionalTrustRoots = [.certificates(roots)] }
        } catch {
            throw Diagnostic("a root certificate for the App Store's hosts cannot be used", hint: "check its file")
        }
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow, decompression: .disabled)
        configuration.httpVersion = .http1Only
        // The time limit of the exchange ends a connection attempt too.
        configuration.timeout.connect = .minutes(1)
        // The caller decides when to try again.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 32
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Closes all connections. Call it after the last request.
    package func close() async { try? await client.shutdown() }

    package func exchange(
        _ request: APIRequest, timeout: Duration
    ) async throws(TransportFailure) -> APIResponse {
        do {
            return try await withThrowingTaskGroup(of: APIResponse.self) { group in
                group.addTask { try await self.send(request) }
                // The client's own timeouts restart with every received byte.
                group.addTask {
                    try await Task.sleep(for: timeout)
                    throw TransportFailure.timedOut
                }
                defer { group.cancelAll() }
                guard let response = try await group.next() else { throw TransportFailure.timedOut }
                return response
            }
        } catch { throw Self.failure(error) }
    }

    private func send(_ request: APIRequest) async throws -> APIResponse {
        var message = HTTPClientRequest(url: request.url)
        message.method = HTTPMethod(rawValue: request.method)
        message.headers.add(name: "Accept", value: "application/json")
        message.headers.add(name: "User-Agent", value: "offer-signer/\(OfferSignerVersion.text)")
        if let authorization = request.authorization {
            message.headers.add(name: "Authorization", value: authorization)
        }
        if let body = request.body {
            message.headers.add(name: "Content-Type", value: request.contentType)
            message.body = .bytes(body)
        }
        let response = try await client.execute(message, deadline: .distantFuture)
        let body = try await response.body.collect(upTo: request.maximumResponse)
        return APIResponse(
            status: Int(response.status.code), retryAfter: response.headers.first(name: "Retry-After"),
            date: response.headers.first(name: "Date"), body: Array(buffer: body))
    }

    /// Describes an error without quoting its message, because a library may include the URL in it.
    private static func failure(_ error: any Error) -> TransportFailure {
        switch error {
        case let failure as TransportFailure: failure
        case is NIOTooManyBytesError: .tooLarge
        case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError:
            .unreachable("the TLS certificate of the App Store's host is not trusted, or TLS failed")
        case let error as NIOConnectionError where error.dnsAError != nil && error.dnsAAAAError != nil:
            .unreachable("the host name of the App Store was not found")
        case is CancellationError: .timedOut
        default: .unreachable("the App Store could not be reached, or ended the connection early")
        }
    }
}
