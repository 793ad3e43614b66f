import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
package import OfferCore

/// Reads key sets (JWKS, RFC 7517) from files and over HTTP.
package actor KeySetReader: KeySetSource {
    /// Reads a whole file of at most so many bytes. It may wait for a disk.
    package typealias ReadFile = @Sendable (_ path: String, _ maximumSize: Int) throws(SetupProblem) -> KeySetText

    private let timeout: Duration
    private let readFile: ReadFile
    /// There is none until a URL is to be fetched.
    private var client: HTTPClient?

    /// - Parameter timeout: for the whole of an answer over HTTP.
    package init(timeout: Duration = .seconds(10), readFile: @escaping ReadFile) {
        self.timeout = timeout
        self.readFile = readFile
    }

    /// The largest set that is read, in bytes. One with three keys and their certificates has about 6 kB.
    package static let maximumSize = 256 * 1024

    package func text(at place: KeySetPlace) async throws(KeySetFault) -> KeySetText {
        switch place {
        case .file(let path):
            do throws(SetupProblem) { return try await readOffThePool(path) } catch {
                throw KeySetFault(.notHad, error)
            }
        case .url(let url): return KeySetText(try await fetch(url))
        }
    }

    package func keys(
        in text: [UInt8], from place: KeySetPlace
    ) async throws(KeySetFault) -> (set: UserKeySet, problems: [SetupProblem]) {
        try await JSONWebKeySet.keys(in: text, from: "\(place)")
    }

    package func close() async {
        try? await client?.shutdown()
        client = nil
    }

    /// A disk that hangs must not take one of the few threads on which everything else goes on.
    private func readOffThePool(_ path: String) async throws(SetupProblem) -> KeySetText {
        do {
            return try await NIOThreadPool.singleton.runIfActive { [readFile] in
                try readFile(path, Self.maximumSize)
            }
        } catch let problem as SetupProblem {
            throw problem
        } catch {
            throw SetupProblem("the key set \(path) cannot be read (\(error))", hint: "start the service anew")
        }
    }

    private func fetch(_ url: String) async throws(KeySetFault) -> [UInt8] {
        let client = client ?? Self.makeClient()
        self.client = client
        do {
            return try await withThrowingTaskGroup(of: [UInt8].self) { group in
                group.addTask { try await Self.fetch(url, by: client) }
                // The client's own timeouts begin anew with every byte that drips in.
                group.addTask { [timeout] in
                    try await Task.sleep(for: timeout)
                    throw FetchFailure.timeout
                }
                defer { group.cancelAll() }
                return try await group.next() ?? []
            }
        } catch {
            throw KeySetFault(
                .notHad,
                SetupProblem(
                    "users' keys could not be fetched from \(KeySetPlace.url(url)) (\(FetchFailure.reason(error)))",
                    hint: "look whether the service can reach it; what was fetched last stays in force for a day"),
                detail: "\(error)")
        }
    }

    private static func makeClient() -> HTTPClient {
        var configuration = HTTPClient.Configuration(
            // Whoever is configured decides who is a user, and nobody that they send us to.
            redirectConfiguration: .disallow,
            decompression: .disabled)
        // The default of the library begins with TLS 1.0.
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        configuration.tlsConfiguration = tls
        configuration.httpVersion = .http1Only
        // The keeper tries again, and says meanwhile what is wrong.
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
