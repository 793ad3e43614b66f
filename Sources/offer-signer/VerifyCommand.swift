import ArgumentParser
import FoundationEssentials
import OfferCore
import OfferCrypto
import OfferServer

/// `offer-signer verify`: whether a signature is one over the fields that come with it, and if not, why.
struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Verify one signature, and explain one that StoreKit refuses: JSON in, JSON out.",
        discussion: """
            Takes what the app passed to StoreKit: the fields of the offer with keyID, nonce, timestamp and signature, as \
            'sign' prints them, or a compactJWS, or both; and storeKitError, if StoreKit named one. The keys are those of the folder, \
            retired ones included, or --public-key. Prints what POST /v1/explanations answers. Exit status 0 if the \
            signature verifies and nothing else is wrong with it, else 1.
            """
    )

    @Option(help: "A file with the public key in PEM (PUBLIC KEY), instead of the folder of keys.")
    var publicKey: String?

    @Option(help: "Issuer ID of the team, which iss of a JWS has to be (SUBSCRIPTION_OFFERS_ISSUER_ID).")
    var issuerID: String?

    @OptionGroup var key: KeyFolderOptions
    @OptionGroup var input: JSONInput

    func run() throws {
        let members = try input.read()
        do {
            let evidence = try Evidence(members)
            let (explainer, problems) = try explainer(for: evidence)
            let explanation = try explainer.explanation(of: evidence)
            StandardStreams.print(String(decoding: explanation.body, as: UTF8.self) + "\n")
            guard !explanation.isGood else { return }
            // A key that is missing may be one of the files that cannot be read.
            if explanation.verdicts.contains(where: { $0.keyID == nil }) {
                for problem in problems { StandardStreams.printError(CommandError(problem).text) }
            }
            throw ExitCode(1)
        } catch let problem as Problem {
            throw CommandError(problem)
        }
    }

    private func explainer(for evidence: Evidence) throws -> (Explainer, [SetupProblem]) {
        if let publicKey {
            let key = try readPublicKey(publicKey)
            // It stands for the key that is named, whichever that is.
            let candidate = CandidateKey(id: try KeyID(evidence), standing: .inService, accepts: key.verify)
            let issuerIDs = IssuerIDs(ofAllApps: try issuerID.map(IssuerID.init(option:)))
            return (
                Explainer(keys: [candidate], issuerIDs: issuerIDs, now: SystemSources.now(), sha256: SHA256.hash), []
            )
        }
        var flags = key.verifyingFlags
        flags.issuerID = issuerID
        let reader = key.reader(flags)
        let keys = ConfiguredKeys(try reader.read(), places: .system(reader))
        let configuration = keys.configuration
        let names = KnownNames(catalogue: configuration.catalogue, choice: configuration.wanted.choice)
        return (
            Explainer(
                keys: keys.candidateKeys, names: names, issuerIDs: configuration.issuerIDs, now: SystemSources.now(),
                sha256: SHA256.hash),
            keys.findings.compactMap(\.problem)
        )
    }

    private func readPublicKey(_ path: String) throws -> VerifyingKey {
        do {
            return try VerifyingKey(pem: [UInt8](Data(contentsOf: URL(filePath: path))))
        } catch {
            throw CommandError("\(path) cannot be read as a P-256 public key in PEM (\(error))")
        }
    }
}

extension KeyID {
    /// The key ID that is named in what was presented.
    fileprivate init(_ evidence: Evidence) throws(Problem) {
        do { self = try KeyID(utf8: evidence.keyID ?? []) } catch { throw .invalidField(error) }
    }
}

extension IssuerID {
    fileprivate init(option text: String) throws(Problem) {
        do { self = try IssuerID(utf8: Array(text.utf8), field: "--issuer-id") } catch { throw .invalidField(error) }
    }
}

extension ConfiguredKeys {
    /// Every key there is, those that sign first.
    fileprivate var candidateKeys: [CandidateKey] {
        let wanted = configuration.wanted
        var seen: Set<KeyID> = []
        let keys = findings.compactMap(\.key).filter { seen.insert($0.id).inserted }
        return (keys.filter { wanted.choice.chooses($0.id) } + keys.filter { !wanted.choice.chooses($0.id) }).map {
            key in
            CandidateKey(id: key.id, standing: wanted.retired.contains(key.id) ? .retired : .inService) {
                try key.pair.verify($0, of: $1)
            }
        }
    }
}
