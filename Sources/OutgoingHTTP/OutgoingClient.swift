import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOSSL
import OfferCore
package import OfferCrypto

/// The HTTP client that sends requests to other servers.
///
/// It uses TLS 1.2 or later, follows no redirect and decompresses nothing. It sends each request once: the caller
/// decides when to retry. Each response has a time limit and a maximum size.
package final class OutgoingClient: HTTPExchange {
    private let client: HTTPClient

    /// - Parameters:
    ///   - connections: the maximum number of connections to one host. Further requests wait.
    ///   - connectLimit: the time limit for a connection, including its TLS handshake. Until then, an attempt counts as
    ///     a connection, even if its request has been cancelled.
    ///   - verifiesCertificates: false only for a server on this machine, because its certificate contains the
    ///     service's public name.
    package convenience init(
        connections: Int = 8, connectLimit: Duration = .seconds(10), verifiesCertificates: Bool = true
    ) {
        self.init(roots: [], connections, connectLimit, verifiesCertificates: verifiesCertificates)
    }

    /// - Parameter roots: the certificates to trust in addition to the system's.
    /// - Throws: an error if the TLS library cannot use one of the certificates.
    package convenience init(
        roots: [X509Certificate], connections: Int = 8, connectLimit: Duration = .seconds(10)
    ) throws(UnusableRoot) {
        do {
            let roots = try roots.map { try NIOSSLCertificate(bytes: $0.der, format: .der) }
            self.init(roots: roots, connections, connectLimit, verifiesCertificates: true)
        } catch { throw UnusableRoot() }
    }

    private init(
        roots: [NIOSSLCertificate], _ connections: Int, _ connectLimit: Duration, verifiesCertificates: Bool
    ) {
        var tls = TLSConfiguration.makeClientConfiguration()
        // The library's default minimum is TLS 1.0.
        tls.minimumTLSVersion = .tlsv12
        if !roots.isEmpty { tls.additionalTrustRoots = [.certificates(roots)] }
        if !verifiesCertificates { tls.certificateVerification = .none }
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow, decompression: .disabled)
        configuration.httpVersion = .http1Only
        configuration.timeout.connect = TimeAmount(connectLimit)
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connections
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Closes all connections. Call it after the last request.
    package func close() async { try? await client.shutdown() }

    package func exchange(
        _ request: OutgoingRequest, within limit: Duration
    ) async throws(OutgoingFailure) -> IncomingResponse {
        do {
            return try await withThrowingTaskGroup(of: IncomingResponse.self) { group in
                group.addTask { try await self.send(request) }
                // The library's own timeouts restart with every received byte.
                group.addTask {
                    try await Task.sleep(for: limit)
                    throw OutgoingFailure.timedOut
                }
                defer { group.cancelAll() }
                guard let response = try await group.next() else { throw OutgoingFailure.timedOut }
                return response
            }
        } catch { throw OutgoingFailure(error, maximum: request.maximumResponse) }
    }

    private func send(_ request: OutgoingRequest) async throws -> IncomingResponse {
        var message = HTTPClientRequest(url: request.url)
        message.method = HTTPMethod(rawValue: request.method)
        message.headers.add(name: "User-Agent", value: "offer-signer/\(OfferSignerVersion.text)")
        for (name, value) in request.headers { message.headers.add(name: name, value: value) }
        if let body = request.body { message.body = .bytes(body) }
        let response = try await client.execute(message, deadline: .distantFuture)
        let headers = response.headers.map { (name: $0.name, value: $0.value) }
        var body: [UInt8] = []
        do { body = Array(buffer: try await response.body.collect(upTo: request.maximumResponse)) } catch {
            guard request.ignoresBody else { throw error }
        }
        return IncomingResponse(status: Int(response.status.code), headers: headers, body: body)
    }
}

/// A root certificate that the TLS library cannot use.
package struct UnusableRoot: Error {}

/// A way to send requests to other servers.
package protocol HTTPExchange: Sendable {
    /// Sends a request once and returns the complete response.
    /// - Parameter limit: the time limit for the complete response, including the connection.
    func exchange(
        _ request: OutgoingRequest, within limit: Duration
    ) async throws(OutgoingFailure) -> IncomingResponse
}
