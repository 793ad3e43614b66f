import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
package import OfferCore

/// A reader of key sets (JWKS, RFC 7517) from files and over HTTP.
package actor KeySetReader: KeySetSource {
    /// A function that reads a whole file of at most `maximumSize` bytes. It may block on disk access.
    package typealias ReadFile = @Sendable (_ path: String, _ maximumSize: Int) throws(Diagnostic) -> KeySetText

    private let timeout: Duration
    private let readFile: ReadFile
    /// The HTTP client; nil until the first URL is fetched.
    private var client: HTTPClient?

    /// - Parameter timeout: how long a complete HTTP response may take.
    package init(timeout: Duration = .seconds(10)) {
        self.timeout = timeout
        readFile = { path, maximumSize throws(Diagnostic) in try KeySetFile.read(path, maximumSize: maximumSize) }
    }

    /// - Parameter readFile: a replacement for reading from the file system.
    package init(timeout: Duration = .seconds(10), readFile: @escaping ReadFile) {
        self.timeout = timeout
        self.readFile = readFile
    }

    /// The maximum size of a key set in bytes. A set of three keys with certificates takes about 6 kB.
    package static let maximumSize = 256 * 1024

    package func text(at place: KeySetLocation) async throws(KeySetFault) -> KeySetText {
        switch place {
        case .file(let path):
            do throws(Diagnostic) { return try await readOnThreadPool(path) } catch {
                throw KeySetFault(.unavailable, error)
            }
        case .url(let url): return KeySetText(try await fetch(url))
        }
    }

    // Runs off the actor, so that other sets can be read while large RSA keys are being checked.
    package nonisolated func keys(
        in text: [UInt8], from place: KeySetLocation
    ) async throws(KeySetFault) -> (set: UserKeySet, problems: [Diagnostic]) {
        try JSONWebKeySet.keys(in: text, from: "\(place)")
    }

    package func close() async {
        try? await client?.shutdown()
        client = nil
    }

    /// Reads a file on NIO's thread pool: a hanging disk must not block a thread of Swift's cooperative pool.
    private func readOnThreadPool(_ path: String) async throws(Diagnostic) -> KeySetText {
        do {
            return try await NIOThreadPool.singleton.runIfActive { [readFile] in
                try readFile(path, Self.maximumSize)
            }
        } catch let problem as Diagnostic {
            throw problem
        } catch {
            throw Diagnostic("the key set \(path) cannot be read (\(error))", hint: "restart the service")
        }
    }

    private func fetch(_ url: String) async throws(KeySetFault) -> [UInt8] {
        let client = client ?? Self.makeClient()
        self.client = client
        do {
            return try await withThrowingTaskGroup(of: [UInt8].self) { group in
                group.addTask { try await Self.fetch(url, by: client) }
                // The client's own timeouts restart with every received byte.
                group.addTask { [timeout] in
                    try await Task.sleep(for: timeout)
                    throw FetchFailure.timeout
                }
                defer { group.cancelAll() }
                return try await group.next() ?? []
            }
        } catch {
            throw KeySetFault(
                .unavailable,
                Diagnostic(
                    "users' keys could not be fetched from \(KeySetLocation.url(url)) (\(FetchFailure.reason(error)))",
                    hint: "check that the service can reach it; the last fetched keys stay in force for a day"),
                detail: "\(error)")
        }
    }

    private static func makeClient() -> HTTPClient {
        var configuration = HTTPClient.Configuration(
            // Only the configured server decides who is a user, not a server that it redirects to.
            redirectConfiguration: .disallow,
            decompression: .disabled)
        // The library's default minimum is TLS 1.0.
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        configuration.tlsConfiguration = tls
        configuration.httpVersion = .http1Only
        // JWKSRefresher retries and reports the problem.
        configuration.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    private static func fetch(_ url: String, by client: HTTPClient) async throws -> [UInt8] {
        var request = HTTPClientRequest(url: url)
        request.headers.add(name: "Accept", value: "application/jwk-set+json, application/json")
        let response = try await client.execute(request, deadline: .distantFuture)
        guard response.status == .ok else { throw FetchFailure.status(Int(response.status.code)) }
        return Array(buffer: try await response.body.collect(upTo: maximumSize))
    }
}
