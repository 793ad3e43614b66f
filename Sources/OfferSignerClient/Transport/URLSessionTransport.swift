public import Foundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Sends requests with `URLSession`, without cookies, caches or stored credentials.
public struct URLSessionTransport: OfferTransport {
    private let server: URL
    private let session: URLSession

    /// - Parameters:
    ///   - server: the URL of the service, such as `https://offers.example.com`. A path in it is kept.
    ///   - timeout: seconds without a byte until a request counts as unanswered. The service holds a repeated request for up to
    ///     ten seconds, until the first one is answered.
    public init(server: URL, timeout: TimeInterval = 15) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.urlCredentialStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.timeoutIntervalForRequest = timeout
        self.init(server: server, session: URLSession(configuration: configuration))
    }

    /// - Parameter session: one of the app's own, for example with pinned certificates. It must not store answers.
    public init(server: URL, session: URLSession) {
        self.server = server
        self.session = session
    }

    public func send(_ request: TransportRequest) async throws -> TransportAnswer {
        var sent = URLRequest(url: server.appendingPathComponent(request.path))
        sent.httpMethod = "POST"
        sent.httpBody = request.body
        for (name, value) in request.headers { sent.setValue(value, forHTTPHeaderField: name) }
        let data: Data
        let response: URLResponse
        do {
            (data, response) = try await session.data(for: sent)
        } catch let error as URLError {
            throw TransportFailure(Self.kind(error), error.localizedDescription)
        }
        guard let response = response as? HTTPURLResponse else {
            throw TransportFailure(.noAnswer, "the answer is not HTTP")
        }
        let headers = response.allHeaderFields.compactMap { name, value in
            (name as? String).flatMap { name in (value as? String).map { (name, $0) } }
        }
        return TransportAnswer(
            status: response.statusCode, headers: Dictionary(headers) { first, _ in first }, body: data)
    }

    private static func kind(_ error: URLError) -> TransportFailure.Kind {
        #if canImport(FoundationNetworking)
            // Foundation on Linux has no codes for TLS and passes on the text of libcurl.
            if error.code == .unknown, error.localizedDescription.contains("SSL") { return .notSecure }
        #endif
        return switch error.code {
        case .cancelled: .cancelled
        case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
            .clientCertificateRequired, .appTransportSecurityRequiresSecureConnection:
            .notSecure
        default: .noAnswer
        }
    }
}

extension OfferClient {
    /// A client that talks to the service with `URLSession`.
    /// - Parameter server: the URL of the service, such as `https://offers.example.com`.
    public init(
        bundleID: String, server: URL, api: OfferAPI = .v1, token: (@Sendable () async throws -> String?)? = nil
    ) {
        self.init(bundleID: bundleID, transport: URLSessionTransport(server: server), api: api, token: token)
    }
}
