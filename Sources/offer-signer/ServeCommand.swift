import ArgumentParser
import CProcess
import Logging
import OfferCore
import OfferCrypto
import OfferIdentity
import OfferServer
import ServiceLifecycle
import UnixSignals

/// `offer-signer serve`: plugs the parts together and runs the service.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the service (the default).",
        discussion: """
            Answers POST /offer and GET /offer as Apple's sample does, and POST /v1/promotional-offers, \
            /v1/introductory-offers, /v1/advanced-commerce and /v1/explanations. Flags win over the environment.

            SIGHUP reads the environment file, the configuration file, the files for TLS and the folder of keys again; \
            the folder is also looked at every second, and so are the files with the keys of users' identity providers. \
            Keys change without a lost request, or not at all: as long as something is wrong, those in force stay, and \
            /health/ready says why. SIGTERM answers whoever has a connection, and stops.
            """
    )

    @OptionGroup var options: ServeOptions

    func run() async throws {
        let reloadSignals = await UnixSignalsSequence(trapping: .sighup)
        let configuration = try options.reader.read()
        let lines = LogWriter(format: configuration.logFormat) { StandardStreams.writeError($0) }
        let level = LogLevel(configuration.logLevel)
        let log = Logger(label: "offer-signer") { _ in LineLogHandler(writer: lines, level: level) }
        do {
            try await serve(configuration, reloadSignals, log, level)
        } catch {
            await lines.finish()
            throw error
        }
        await lines.finish()
    }

    private func serve(
        _ configuration: Configuration, _ reloadSignals: UnixSignalsSequence, _ log: Logger, _ level: LogLevel
    ) async throws {
        let selfTest = try SystemSources.selfTest()
        try DevelopmentKey.makeIfWanted(configuration)
        let readiness = Readiness()
        let metrics = ServiceMetrics()
        let keeper = try KeyRingKeeper(
            configuration: configuration, places: .system(options.reader), reloadSignals: reloadSignals,
            readiness: readiness, metrics: metrics, log: log, logLevel: level)
        let userKeys = CurrentUserKeys()
        let userKeysKeeper = UserKeysKeeper(
            setup: keeper.setup, keys: userKeys, source: KeySetReader.system(), readiness: readiness, log: log)
        let trail = try await SystemSources.auditTrail(
            configuration.audit, readiness: readiness, metrics: metrics, log: log)
        // Until here SIGTERM just ends the process: there is nothing to be finished, and a disk may hang.
        let stopSignals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        let limiter = Limiter(metrics: metrics, log: log)
        let authenticator = SystemSources.authenticator(userKeys: userKeys, limiter: limiter)
        let offers = OfferSigner(
            setup: keeper.setup, authenticator: authenticator, limiter: limiter, trail: trail,
            selfTest: selfTest, earliest: SystemSources.clock.earliest, makeNonce: SystemSources.makeNonce,
            now: SystemSources.now, metrics: metrics, log: log)
        let explanations = Explanations(
            setup: keeper.setup, authenticator: authenticator, limiter: limiter, sha256: SHA256.hash,
            now: SystemSources.now, log: log)
        let health = Health(
            setup: keeper.setup, certificate: keeper.certificate, readiness: readiness, trail: trail,
            selfTest: selfTest, earliest: SystemSources.clock.earliest, now: SystemSources.now,
            authenticator: authenticator)
        let healthKeeper = HealthKeeper(
            selfTest: selfTest, clock: SystemSources.clock, now: SystemSources.now, readiness: readiness,
            metrics: metrics, log: log)
        let metricsPage = MetricsPage(
            metrics: metrics, setup: keeper.setup, health: health, authenticator: authenticator, limiter: limiter,
            versions: BuildVersions(openSSL: OpenSSLVersion.text))
        func routes(_ metricsPlace: Routes.Metrics) -> Routes {
            Routes(
                offers: offers, explanations: explanations, health: health, metrics: metrics, metricsPage: metricsPage,
                metricsPlace: metricsPlace, log: log)
        }
        let places = Self.places(configuration, routes)
        let service = HTTPService(
            places: places, certificate: keeper.certificate, readiness: readiness, trail: trail, metrics: metrics
        ) { ports in announce(configuration, ports: ports) }

        // They stop in the opposite order, so that the keys are looked after as long as there are requests.
        let group = ServiceGroup(services: [keeper, userKeysKeeper, healthKeeper, service], logger: log)
        let stopping = Task { try await stop(group, at: stopSignals) }
        defer { stopping.cancel() }
        do {
            try await group.run()
        } catch let error as CannotListen {
            throw CommandError(
                "\(error.address.host):\(error.address.port) cannot be listened on (\(error.reason))",
                hint: """
                    choose an address of this machine with --host and a port that is free with --port, or both with \
                    --metrics-address; to start beside another offer-signer, both need --reuse-port
                    """)
        }
    }

    /// Where to listen: for offers, and then for metrics if they have an address of their own.
    private static func places(
        _ configuration: Configuration, _ routes: (Routes.Metrics) -> Routes
    ) -> [ListeningPlace] {
        let address = ListeningAddress(host: configuration.host, port: configuration.port)
        let ofMetrics = configuration.metricsAddress
        let offers = ListeningPlace(
            address, sharesPort: configuration.sharesPort,
            maximumConnections: maximumConnections - (ofMetrics == nil ? 0 : maximumMetricsConnections),
            routes: routes(ofMetrics == nil ? .beside : .elsewhere))
        let metrics = ofMetrics.map {
            ListeningPlace(
                $0, sharesPort: configuration.sharesPort, maximumConnections: maximumMetricsConnections, isPlain: true,
                routes: routes(.alone))
        }
        return [offers] + [metrics].compactMap(\.self)
    }

    /// Some for Prometheus, and for whoever looks; nobody takes descriptors from the offers there.
    private static let maximumMetricsConnections = 32

    /// As many as there are descriptors for, less some for files and for connections that are being made or ended.
    private static var maximumConnections: Int {
        let descriptors = offer_descriptor_limit()
        return min(10_000, descriptors - min(100, descriptors / 2))
    }

    /// Stops the services at the first signal; more of them do no harm.
    private func stop(_ group: ServiceGroup, at signals: UnixSignalsSequence) async throws {
        for await _ in signals {
            await group.triggerGracefulShutdown()
            // By then every connection has ended. Only a disk that hangs can hold up the rest, and would hold up a line in
            // the log as well.
            try await Task.sleep(for: .seconds(13))
            Self.exit(withError: nil)
        }
    }

    /// - Parameter ports: in the order of the places.
    private func announce(_ configuration: Configuration, ports: [Int]) {
        let scheme = configuration.certificate == nil ? "http" : "https"
        let address = ListeningAddress(host: configuration.host, port: configuration.port)
        let url = "\(scheme)://\(address.authority(port: ports[0]))"
        let keys = configuration.wanted.choice.keyIDs.map(\.description).joined(separator: ", ")
        let ofMetrics = configuration.metricsAddress.map {
            "metrics are on http://\($0.authority(port: ports[1]))/metrics\n"
        }
        StandardStreams.print("offer-signer signs with key \(keys) on \(url)\n\(ofMetrics ?? "")")
        guard configuration.isDevelopment else { return }
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

/// What `serve` can be told by flags, and `doctor` as well.
struct ServeOptions: ParsableArguments {
    @OptionGroup var key: KeyOptions

    @Option(help: "Address to listen on (SUBSCRIPTION_OFFERS_HOST; default: 127.0.0.1).")
    var host: String?

    @Option(help: "Port to listen on, 0 for any that is free (SUBSCRIPTION_OFFERS_PORT; default: 8080).")
    var port: Int?

    @Option(
        help: """
            Address and port for /metrics and health alone, such as 127.0.0.1:9464 \
            (SUBSCRIPTION_OFFERS_METRICS_ADDRESS; default: /metrics is beside the rest).
            """)
    var metricsAddress: String?

    @Flag(help: "Let the next process listen at the same port beside this one (SUBSCRIPTION_OFFERS_REUSE_PORT).")
    var reusePort = false

    @Option(help: "PEM file with the chain of certificates for TLS (SUBSCRIPTION_OFFERS_TLS_CERTIFICATE).")
    var tlsCertificate: String?

    @Option(help: "PEM file with the private key for TLS (SUBSCRIPTION_OFFERS_TLS_KEY).")
    var tlsKey: String?

    @Flag(
        help: """
            Speak plain HTTP beyond this machine, because a proxy in front speaks TLS and nobody gets past it \
            (SUBSCRIPTION_OFFERS_BEHIND_PROXY).
            """)
    var behindProxy = false

    @Option(
        help: """
            Addresses and networks of proxies whose X-Forwarded-For is believed, such as 192.0.2.1,198.51.100.0/28 \
            (SUBSCRIPTION_OFFERS_TRUSTED_PROXIES).
            """)
    var trustedProxies: String?

    @Flag(
        help: """
            Serve whoever reaches the service beyond this machine, with no caller configured \
            (SUBSCRIPTION_OFFERS_ALLOW_ANYONE).
            """)
    var allowAnyone = false

    @Option(help: "File of the audit trail, to which every signature is written (SUBSCRIPTION_OFFERS_AUDIT_LOG).")
    var auditLog: String?

    @Option(
        help: """
            trace, debug, info, notice, warning, error or critical: from which level on events are logged \
            (SUBSCRIPTION_OFFERS_LOG_LEVEL; default: info).
            """,
        transform: { text in
            guard let level = Logger.Level(rawValue: text) else {
                throw ValidationError("There is no log level '\(text)'.")
            }
            return level
        })
    var logLevel: Logger.Level?

    @Option(
        help: "text or json: how a line of the log is written (SUBSCRIPTION_OFFERS_LOG_FORMAT; default: text).",
        transform: { text in
            guard let format = LogFormat(rawValue: text) else {
                throw ValidationError("There is no log format '\(text)'.")
            }
            return format
        })
    var logFormat: LogFormat?

    var reader: ConfigurationReader {
        var flags = key.flags
        flags.host = host
        flags.port = port
        flags.metricsAddress = metricsAddress
        flags.reusePort = reusePort
        flags.tlsCertificate = tlsCertificate
        flags.tlsKey = tlsKey
        flags.behindProxy = behindProxy
        flags.trustedProxies = trustedProxies
        flags.allowAnyone = allowAnyone
        flags.auditLog = auditLog
        flags.logLevel = logLevel
        flags.logFormat = logFormat
        return key.folder.reader(flags)
    }
}
