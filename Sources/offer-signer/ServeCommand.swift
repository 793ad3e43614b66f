import ArgumentParser
import Logging
import OfferCore
import OfferServer

/// `offer-signer serve`: plugs the parts together and runs the service.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the service (the default).",
        discussion: """
            Answers POST /offer and GET /offer as Apple's sample does, and POST /v1/promotional-offers. Flags win over the \
            environment. SIGTERM finishes the requests in flight and stops.
            """
    )

    @OptionGroup var key: KeyOptions

    @Option(help: "Loopback address to listen on (SUBSCRIPTION_OFFERS_HOST; default: 127.0.0.1).")
    var host: String?

    @Option(help: "Port to listen on, 0 for any that is free (SUBSCRIPTION_OFFERS_PORT; default: 8080).")
    var port: Int?

    @Option(
        help: "trace, debug, info, notice, warning, error or critical.",
        transform: { text in
            guard let level = Logger.Level(rawValue: text) else {
                throw ValidationError("There is no log level '\(text)'.")
            }
            return level
        })
    var logLevel: Logger.Level = .info

    func run() async throws {
        var flags = key.flags
        flags.host = host
        flags.port = port
        let configuration = try KeyOptions.readConfiguration(flags)

        var log = Logger(label: "offer-signer") { StreamLogHandler.standardError(label: $0) }
        log.logLevel = logLevel

        let keys = try KeyLoader.load(configuration)
        let ring = CurrentKeyRing(keys)
        let offers = OfferSigner(ring: ring, makeNonce: SystemSources.makeNonce, now: SystemSources.now, log: log)
        let routes = Routes(offers: offers, health: Health(ring: ring), log: log)
        let service = HTTPService(host: configuration.host, port: configuration.port, routes: routes, log: log)
        do {
            try await service.run { port in announce(host: configuration.host, port: port, keys: keys.signing) }
        } catch {
            throw CommandError(
                "\(configuration.host):\(configuration.port) cannot be listened on (\(error))",
                hint: "choose a loopback address with --host and a port that is free with --port")
        }
    }

    private func announce(host: String, port: Int, keys: [KeyID]) {
        let url = "http://\(host.contains(":") ? "[\(host)]" : host):\(port)"
        StandardStreams.print(
            "offer-signer signs with key \(keys.map(\.description).joined(separator: ", ")) on \(url)\n")
        guard key.development else { return }
        StandardStreams.print(
            """
            Try it:

              curl -sS \(url)/offer -H 'Content-Type: application/json' -d '{
                "appBundleID": "com.example.app",
                "productIdentifier": "com.example.app.pro.monthly",
                "offerID": "retention_50off_3m",
                "applicationUsername": "8d7f9a52c4e1"
              }'

            """)
    }
}
