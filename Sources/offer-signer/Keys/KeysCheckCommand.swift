import ArgumentParser
import OfferConfiguration
import OfferCore
import OfferCrypto
import OfferEligibility
import OfferKeys
import OfferService

/// `offer-signer keys check`: checks key files.
struct KeysCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check key files before deployment.",
        discussion: """
            Checks each file as 'serve' does: its mode, its format, and that it makes a signature that verifies. Without \
            arguments, checks the whole folder. Exits with status 1 if something is wrong.
            """
    )

    @Argument(help: "Key files (default: the key folder).")
    var files: [String] = []

    @OptionGroup var folder: KeyFolderOptions

    func run() throws {
        let configuration = try folder.readConfiguration()
        var problems: [Diagnostic] = []
        for file in files {
            do {
                let key = try KeyFile.read(
                    file, allowsReadableByOthers: configuration.keys.folder.allowsReadableByOthers)
                report(file, key)
            } catch {
                problems.append(error)
            }
        }
        if files.isEmpty {
            let folder = configuration.keys.folder
            var watcher = folder.watcher()
            _ = watcher.scan(at: .now, .first)
            if watcher.keys.isEmpty {
                problems.append(
                    Diagnostic(
                        "there is no key file in \(folder.path)",
                        hint: "put SubscriptionKey_<KEYID>.p8 from App Store Connect there, or name another folder"))
            }
            for status in watcher.keys {
                switch status {
                case .key(let key): report(folder.filePath(of: key.id), key.pair)
                case .refused(_, let problem): problems.append(problem)
                case .unsettled: break  // cannot occur in the first scan
                }
            }
        }
        guard problems.isEmpty else { throw ConfigurationError(problems: problems) }
    }

    private func report(_ file: String, _ key: any SigningKeyPair) {
        let form = (key as? SigningKey)?.form ?? "-"
        StandardStreams.print("ok: \(file) signs (\(form); SHA-256 of the public key \(key.fingerprint))\n")
    }
}
