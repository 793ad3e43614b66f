import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOSSL
package import OfferCore
import OfferCrypto
package import SubscriberStore

/// Posts notifications to the team's own receivers.
package final class ForwardClient: Sendable {
    private let client: HTTPClient
    private let signature: ForwardSignature?
    private let timeout: Duration

    /// The most that is read of a response, in bytes. It is thrown away, so that the connection can be used again.
    private static let maximumResponse = 64 * 1024
    /// For each host. Enough for 32 URLs of one host, to each of which the worker sends 32 notifications at a time.
    private static let maximumConnections = 1024

    /// - Parameter timeout: the time limit of one attempt, connecting included.
    /// - Throws: a problem for the operator, if a certificate cannot be used.
    package init(_ settings: ForwardSettings, timeout: Duration = .seconds(10)) throws(Diagnostic) {
        self.timeout = timeout
        do { signature = try settings.key.map { key throws(OpenSSLError) in try ForwardSignature(key) } } catch {
            throw Diagnostic("\(Settings.forwardKey.variable) cannot be used (\(error))", hint: "report this as a bug")
        }
        var tls = TLSConfiguration.makeClientConfiguration()
        do {
            let roots = try settings.roots.map { try NIOSSLCertificate(bytes: $0.der, format: .der) }
            if !roots.isEmpty { tls.additionalTrustRoots = [.certificates(roots)] }
        } catch {
            throw Diagnostic(
                "a certificate in \(Settings.forwardRoots.variable) cannot be used", hint: "put root certificates there"
            )
        }
        var configuration = HTTPClient.Configuration(
            // A receiver that has moved is named in the configuration, and nowhere else.
            tlsConfiguration: tls, redirectConfiguration: .disallow, decompression: .disabled)
        configuration.httpVersion = .http1Only
        configuration.timeout.connect = TimeAmount(timeout)
        // The worker decides when to try again.
        configuration.connectionPool.retryConnectionEstablishment = false
        // All URLs of one host share its connections, and by default there are eight. A receiver that hangs would hold up
        // another one there, and waiting for a connection would use up the time limit. The worker bounds the requests.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = Self.maximumConnections
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Closes all connections. Call it after the last attempt.
    package func close() async { try? await client.shutdown() }

    /// Sends a notification once, as it was received.
    /// - Throws: ``ForwardFailure`` unless the receiver answers with a status from 200 to 299.
    package func send(_ forward: Forward, at now: Timestamp) async throws(ForwardFailure) {
        let status: Int
        do {
            let request = try request(for: forward, at: now)
            status = try await withThrowingTaskGroup(of: Int.self) { group in
                group.addTask { try await self.post(request) }
                // The client's own timeouts restart with every received byte.
                group.addTask { [timeout] in
                    try await Task.sleep(for: timeout)
                    throw Timeout()
                }
                defer { group.cancelAll() }
                guard let status = try await group.next() else { throw Timeout() }
                return status
            }
        } catch { throw Self.failure(error) }
        guard (200...299).contains(status) else { throw .status(status) }
    }

    private struct Timeout: Error {}

    private func request(for forward: Forward, at now: Timestamp) throws -> HTTPClientRequest {
        var request = HTTPClientRequest(url: forward.receiver)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.headers.add(name: "User-Agent", value: "offer-signer")
        request.headers.add(
            name: "Offer-Signer-Notification", value: forward.notification.notificationUUID.description)
        if let signature {
            request.headers.add(name: ForwardSignature.header, value: try signature.value(for: forward.body, at: now))
        }
        request.body = .bytes(forward.body)
        return request
    }

    private func post(_ request: HTTPClientRequest) async throws -> Int {
        let response = try await client.execute(request, deadline: .distantFuture)
        _ = try? await response.body.collect(upTo: Self.maximumResponse)
        return Int(response.status.code)
    }

    /// Describes an error without quoting its message, because a library may include the URL in it.
    private static func failure(_ error: any Error) -> ForwardFailure {
        switch error {
        case is Timeout: .unreachable("it sent no complete response in time")
        case let error as HTTPClientError where error == .connectTimeout:
            .unreachable("it sent no complete response in time")
        case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError:
            .unreachable("its TLS certificate is not trusted, or TLS failed")
        default: .unreachable("it could not be reached")
        }
    }
}

/// The reason a receiver did not accept a notification.
package enum ForwardFailure: Error, Hashable, Sendable {
    /// The receiver answered, but not with a status from 200 to 299.
    case status(Int)
    /// No answer. The value is half a sentence.
    case unreachable(String)

    /// Whether any other notification would fail too, so that the receiver needs a pause.
    package var isOfReceiver: Bool {
        switch self {
        case .status(let status): status >= 500 || status == 429
        case .unreachable: true
        }
    }
}

extension ForwardFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .status(let status): "it answered with HTTP status \(status)"
        case .unreachable(let reason): reason
        }
    }
}
