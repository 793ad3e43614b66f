import ArgumentParser
import OfferConfiguration
import OfferCore
import OfferHTTP
import OfferService
import OutgoingHTTP

/// `offer-signer health`: checks that the running service is ready. It is for container images without curl.
struct HealthCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "health",
        abstract: "Check whether the running service is ready.",
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
        let client = OutgoingClient(connectLimit: .seconds(5), verifiesCertificates: false)
        let response: IncomingResponse
        do throws(OutgoingFailure) {
            response = try await client.exchange(
                OutgoingRequest("GET", url, maximumResponse: 256 * 1024), within: .seconds(5))
        } catch {
            await client.close()
            throw CommandError(
                "\(url) does not respond (it \(error))",
                hint: "start the service, or pass the options it was started with")
        }
        await client.close()
        let body = String(decoding: response.body, as: UTF8.self).printable
        guard response.status == 200 else {
            throw CommandError("\(url) responded with \(response.status): \(body)", hint: "the service's log says why")
        }
        StandardStreams.print(body + "\n")
    }

    /// Returns the URL of the readiness probe. A wildcard address is reached through the loopback address.
    private static func url(for configuration: Configuration) -> String {
        let host = ["0.0.0.0": "127.0.0.1", "::": "::1"][configuration.address.host] ?? configuration.address.host
        let scheme = configuration.certificate == nil ? "http" : "https"
        return "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(configuration.address.port)/health/ready"
    }
}
