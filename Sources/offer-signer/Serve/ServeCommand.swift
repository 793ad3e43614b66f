import ArgumentParser
import CProcess
import ConsoleService
import FoundationEssentials
import Logging
import OfferAudit
import OfferConfiguration
import OfferConsole
import OfferCore
import OfferCrypto
import OfferEligibility
import OfferHTTP
import OfferKeys
import OfferService
import OfferTelemetry
import ServiceLifecycle
import SubscriberSync
import UnixSignals

/// `offer-signer serve`: runs the service.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run the service (the default).",
        discussion: """
            Answers POST /offer and GET /offer as Apple's sample does, and POST /v1/promotional-offers, \
            /v1/introductory-offers, /v1/advanced-commerce and /v1/explanations. Flags override the environment.

            SIGHUP reloads the environment file, the configuration file, the TLS files and the key folder. The key folder \
            and the key sets of identity providers are also checked every second. Key changes never drop a request. While \
            something is wrong, the previous keys stay in force, and /health/ready says why. On SIGTERM, the service \
            answers the requests on open connections and stops.
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
        // The memory budget counts memory in use, not memory that the allocator keeps for reuse after thousands of
        // connections.
        offer_return_large_allocations()
        try DevelopmentKey.createIfWanted(configuration)
        if let problem = SecureHeap.state.problem {
            log.notice("\(problem.error)", metadata: ["hint": "\(problem.hint)"])
        }
        let reader = options.reader
        let services = try await ServiceBuilder.build(
            configuration, reloadSignals: reloadSignals,
            readConfiguration: { () throws(ConfigurationError) in try reader.read() }, log: log, logLevel: level,
            makeConsole: { application, settings throws(Diagnostic) in
                try Console.make(for: application, settings, auditPath: configuration.audit?.path)
            }
        ) { ports, store in announce(configuration, ports, store) }
        // Up to this point, SIGTERM simply ends the process: there is no work to finish, and a disk may be hanging.
        let stopSignals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
        let group = ServiceGroup(services: services, logger: log)
        let stopping = Task { try await stop(group, at: stopSignals) }
        defer { stopping.cancel() }
        do {
            try await group.run()
        } catch let error as CannotListen {
            throw CommandError(
                "cannot listen on \(error.address.host):\(error.address.port) (\(error.reason))",
                hint: """
                    choose an address of this machine with --host and a free port with --port, or both with \
                    --metrics-address or --console-address; to start beside another offer-signer, both need --reuse-port
                    """)
        }
    }

    /// Stops the services at the first signal and ignores further signals.
    private func stop(_ group: ServiceGroup, at signals: UnixSignalsSequence) async throws {
        for await _ in signals {
            await group.triggerGracefulShutdown()
            // Every connection has ended by then. Only a hanging disk can delay the rest, and it would also delay a log
            // line.
            try await Task.sleep(for: .seconds(13))
            Self.exit(withError: nil)
        }
    }

    /// Prints the address of the console. During development, it also prints a link that signs in with all roles.
    private func announce(_ console: ConsoleSettings, isDevelopment: Bool, _ store: CurrentStore) {
        let text = "the console is on \(console.origin.text)"
        guard isDevelopment, LoopbackAddress.isLoopback(console.address.host) else {
            return StandardStreams.print("\(text); to sign in, run: offer-signer console sign-in\n")
        }
        Task {
            do {
                let link = try await ConsoleInvitation.make(
                    name: CommandUser.name, roles: ConsoleRole.allCases, at: Timestamp(.now), in: store,
                    console.origin.text)
                StandardStreams.print("\(text). Within five minutes, sign in once with:\n\n  \(link)\n\n")
            } catch {
                StandardStreams.print("\(text); to sign in, run: offer-signer console sign-in\n")
            }
        }
    }

    private func announce(_ configuration: Configuration, _ ports: ListeningPorts, _ store: CurrentStore) {
        let scheme = configuration.certificate == nil ? "http" : "https"
        let url = "\(scheme)://\(configuration.address.authority(port: ports.main))"
        let keys = configuration.keys.wanted.choice.keyIDs.map(\.description).joined(separator: ", ")
        StandardStreams.print("offer-signer signs with key \(keys) on \(url)\n")
        if let address = configuration.metricsAddress, let port = ports.metrics {
            StandardStreams.print("metrics are on http://\(address.authority(port: port))/metrics\n")
        }
        if let address = configuration.notificationsAddress, let port = ports.notifications {
            StandardStreams.print(
                "App Store notifications go to \(scheme)://\(address.authority(port: port))/v1/app-store-notifications\n"
            )
        }
        if let address = configuration.links.address, let port = ports.links {
            StandardStreams.print("links of campaigns open pages on \(scheme)://\(address.authority(port: port))/o/\n")
        }
        if let console = configuration.console, let port = ports.console {
            announce(
                ConsoleSettings(
                    address: console.address,
                    origin: console.address.port == 0
                        ? ConsoleOrigin(of: console.address, port: port, isSecure: console.origin.isSecure)
                        : console.origin),
                isDevelopment: configuration.isDevelopment, store)
        }
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
