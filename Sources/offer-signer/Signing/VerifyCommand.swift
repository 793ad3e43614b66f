import ArgumentParser
import FoundationEssentials
import OfferConfiguration
import OfferCore
import OfferCrypto
import OfferExplanations
import OfferKeys
import OfferService

/// `offer-signer verify`: verifies a signature and explains one that StoreKit refuses.
struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Verify one signature, and explain one that StoreKit refuses: JSON in, JSON out.",
        discussion: """
            Takes what the app passed to StoreKit: the fields of the offer with keyID, nonce, timestamp and signature, as \
            'sign' prints them, or a compactJWS, or both. Add storeKitError if StoreKit reported an error. Uses the keys in \
            the folder, including retired ones, or --public-key. Prints the response of POST /v1/explanations. Exits with \
            status 0 if the signature verifies and nothing else is wrong with it, otherwise 1.
            """
    )

    @Option(help: "A PEM file with the public key (PUBLIC KEY), instead of the key folder.")
    var publicKey: String?

    @Option(Settings.issuerID) var issuerID: String?

    @OptionGroup var key: KeyFolderOptions
    @OptionGroup var input: JSONInput

    func run() throws {
        let members = try input.read()
        do {
            let evidence: Evidence
            do { evidence = try Evidence(members) } catch { throw Problem(error) }
            let (explainer, problems) = try explainer(for: evidence)
            let explanation = try explainer.explanation(of: evidence)
            StandardStreams.print(String(decoding: explanation.body, as: UTF8.self) + "\n")
            guard !explanation.isGood else { return }
            // The missing key may be in one of the unusable files.
            if explanation.verdicts.contains(where: { $0.keyID == nil }) {
                for problem in problems { StandardStreams.printError(CommandError(problem).text) }
            }
            throw ExitCode(1)
        } catch let problem as Problem {
            throw CommandError(problem)
        }
    }

    private func explainer(for evidence: Evidence) throws -> (Explainer, [Diagnostic]) {
        if let publicKey {
            let key = try readPublicKey(publicKey)
            // This key replaces the one that the evidence names.
            let candidate = CandidateKey(id: try KeyID(evidence), standing: .inService, accepts: key.verify)
            let issuerIDs = IssuerIDs(ofAllApps: try issuerID.map(IssuerID.init(option:)))
            return (Explainer(keys: [candidate], issuerIDs: issuerIDs, now: SystemInputs.system.now()), [])
        }
        var flags = key.verifyingFlags
        flags[Settings.issuerID] = issuerID
        let configuration = try key.reader(flags).read()
        let keys = AvailableKeys(configuration.keys)
        let names = KnownNames(catalogue: configuration.catalogue, choice: configuration.keys.wanted.choice)
        return (
            Explainer(
                keys: keys.candidateKeys, names: names, issuerIDs: configuration.issuerIDs,
                now: SystemInputs.system.now()),
            keys.all.compactMap(\.problem)
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
    /// The key ID that the evidence names.
    fileprivate init(_ evidence: Evidence) throws(Problem) {
        do { self = try KeyID(utf8: evidence.keyID ?? []) } catch { throw .invalidField(error) }
    }
}

extension IssuerID {
    fileprivate init(option text: String) throws(Problem) {
        do { self = try IssuerID(utf8: Array(text.utf8), field: "--issuer-id") } catch { throw .invalidField(error) }
    }
}

extension AvailableKeys {
    /// Every key, starting with those that sign.
    fileprivate var candidateKeys: [CandidateKey] {
        let wanted = settings.wanted
        var seen: Set<KeyID> = []
        let keys = all.compactMap(\.key).filter { seen.insert($0.id).inserted }
        return (keys.filter { wanted.choice.chooses($0.id) } + keys.filter { !wanted.choice.chooses($0.id) }).map {
            key in
            CandidateKey(id: key.id, standing: wanted.retired.contains(key.id) ? .retired : .inService) {
                try key.pair.verify($0, of: $1, hashedBy: $2)
            }
        }
    }
}
