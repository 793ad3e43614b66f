import ArgumentParser
import Logging
import OfferCore
import OfferServer

/// `offer-signer sign`: one offer from the command line.
struct SignCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign",
        abstract: "Sign one offer: JSON in, JSON out.",
        discussion: """
            Takes the fields of POST /offer and prints them with keyID, nonce, timestamp and signature, as 'verify' reads \
            them:

              echo '{"appBundleID": "com.example.app", "productIdentifier": "com.example.app.pro.monthly",
                     "offerID": "retention_50off_3m", "applicationUsername": "8d7f9a52c4e1"}' |
                offer-signer sign --key-id 2X9R4HXF34

            With an issuer ID (--issuer-id) and a transactionID among the fields, compactJWS for StoreKit 2 is there, too; with \
            one of them alone, compactJWSMissing says what lacks.
            """
    )

    @OptionGroup var key: KeyOptions
    @OptionGroup var input: JSONInput

    func run() async throws {
        let configuration = try key.reader.read()
        let members = try input.read()
        let log = Logger(label: "offer-signer") { StreamLogHandler.standardError(label: $0) }
        do {
            let offer = try OfferRequest(members, spelling: .command)
            try DevelopmentKey.makeIfWanted(configuration)
            let draft = ConfiguredKeys(configuration, places: .system(key.reader)).draft(from: KeyRing())
            guard draft.isComplete else { throw ConfigurationError(problems: draft.problems) }
            let metrics = ServiceMetrics()
            let trail = try await SystemSources.auditTrail(
                configuration.audit, readiness: Readiness(), metrics: metrics, log: log)
            let limiter = Limiter(metrics: metrics, log: log)
            let signer = OfferSigner(
                setup: CurrentSetup(
                    Setup(ring: draft.ring, catalogue: configuration.catalogue, issuerIDs: configuration.issuerIDs)),
                authenticator: SystemSources.authenticator(userKeys: nil, limiter: limiter), limiter: limiter,
                trail: trail, selfTest: try SystemSources.selfTest(), earliest: SystemSources.clock.earliest,
                makeNonce: SystemSources.makeNonce, now: SystemSources.now, metrics: metrics, log: log)
            let (signed, span) = try signer.sign(offer)
            if let trail, let span, await !trail.isWritten(span) { throw Problem.auditUnavailable }
            StandardStreams.print(String(decoding: signed.commandOutput, as: UTF8.self) + "\n")
        } catch let problem as Problem {
            throw CommandError(problem)
        }
    }
}
