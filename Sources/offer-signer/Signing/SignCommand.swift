import ArgumentParser
import Logging
import OfferAudit
import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferKeys
import OfferService
import OfferTelemetry

/// `offer-signer sign`: signs one offer from the command line.
struct SignCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign",
        abstract: "Sign one offer: JSON in, JSON out.",
        discussion: """
            Takes the fields of POST /offer and prints them with keyID, nonce, timestamp and signature, in the form that \
            'verify' reads:

              echo '{"appBundleID": "com.example.app", "productIdentifier": "com.example.app.pro.monthly",
                     "offerID": "retention_50off_3m", "applicationUsername": "8d7f9a52c4e1"}' |
                offer-signer sign --key-id 2X9R4HXF34

            With an issuer ID (--issuer-id) and a transactionID among the fields, the output also has compactJWS for \
            StoreKit 2. With only one of them, the output has compactJWSMissing, which says what is missing.
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
            try DevelopmentKey.createIfWanted(configuration)
            let signer = try await signer(configuration, log)
            let (signed, commit) = try signer.signForCommand(offer)
            guard await commit?.isDurable() ?? true else { throw Problem.auditUnavailable }
            StandardStreams.print(String(decoding: signed.commandOutput, as: UTF8.self) + "\n")
        } catch let problem as Problem {
            throw CommandError(problem)
        }
    }

    private func signer(_ configuration: Configuration, _ log: Logger) async throws -> OfferSigner {
        let plan = AvailableKeys(configuration.keys).plan(from: KeyRing())
        guard plan.isComplete else { throw ConfigurationError(problems: plan.problems) }
        // Callers and limits apply only to requests. Anyone who runs this command already has the key.
        let policy = Policy(ring: plan.ring, catalogue: configuration.catalogue, issuerIDs: configuration.issuerIDs)
        var dependencies = Application.Dependencies(policy: CurrentPolicy(policy), sources: .system, log: log)
        dependencies.safeguards.selfTest = try SelfTest(KnownAnswers())
        dependencies.front.composeRefusals = { $0() }
        dependencies.safeguards.earliest = ClockCheck.ofThisBuild.earliest
        dependencies.safeguards.trail = try await AuditTrail.open(
            configuration.audit, now: dependencies.sources.now, readiness: dependencies.telemetry.readiness,
            metrics: dependencies.telemetry.metrics.audit, log: log)
        return Application(dependencies).signer
    }
}
