import ArgumentParser
import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOSSL
import OfferCore
import OfferHTTP
import OfferService

/// `offer-signer health`: asks the running service whether it is ready. It is for container images without curl.
struct HealthCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "health",
        abstract: "Ask the running service whether it is ready.",
        discussion: """
            Requests /health/ready at the address where 'serve' listens with the same options, and prints the response. \
            Exits with status 0 if the service is ready or degraded, and with 1 if it is not ready or does not respond \
            within 5 seconds. The certificate is not verified, because it names the service rather than this machine.
            """
    )

    @OptionGroup var options: ServeOptions

    func run() async throws {
        // Ignore problems: the configuration may have changed since the service started.
        let url = Self.url(for: options.reader.readAll().configuration)
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: Self.clientConfiguration)
        let outcome = await ask(url, by: client)
        try? await client.shutdown()
        let (status, body) = try outcome.get()
        guard status == .ok else {
            throw CommandError(
                "\(url) responded with \(status.code): \(body.printable)", hint: "the service's log says why")
        }
        StandardStreams.print(body.printable + "\n")
    }

    private func ask(
        _ url: String, by client: HTTPClient
    ) async -> Result<(status: HTTPResponseStatus, body: String), CommandError> {
        do {
            let response = try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(5))
            return .success((response.status, String(buffer: try await response.body.collect(upTo: 256 * 1024))))
        } catch {
            return .failure(
                CommandError(
                    "\(url) does not respond (\(error))",
                    hint: "start the service, or pass the options it was started with"))
        }
    }

    /// Returns the URL of the readiness probe. A wildcard address is reached through the loopback address.
    private static func url(for configuration: Configuration) -> String {
        let host = ["0.0.0.0": "127.0.0.1", "::": "::1"][configuration.address.host] ?? configuration.address.host
        let scheme = configuration.certificate == nil ? "http" : "https"
        return "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(configuration.address.port)/health/ready"
    }

    private static var clientConfiguration: HTTPClient.Configuration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.certificateVerification = .none
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow,
            timeout: HTTPClient.Configuration.Timeout(connect: .seconds(5), read: .seconds(5)))
        configuration.httpVersion = .http1Only
        configuration.connectionPool.retryConnectionEstablishment = false
        return configuration
    }
}
