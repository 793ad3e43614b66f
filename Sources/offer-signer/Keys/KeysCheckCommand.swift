import ArgumentParser
import OfferConfiguration
import OfferCore
import OfferCrypto
import OfferEligibility
import OfferKeys
import OfferPKCS11
import OfferService

/// `offer-signer keys check`: checks key files and keys in tokens.
struct KeysCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check keys before deployment.",
        discussion: """
            Checks each file as 'serve' does: its mode, its format, and that it makes a signature that verifies. Without \
            arguments, checks the whole folder, and the keys in PKCS#11 tokens that the configuration file lists: that they \
            can be found, that the token does not give them out, and that they sign. Exits with status 1 if something is \
            wrong.

            A token counts wrong PINs, and locks itself after a few. If one was entered since the last login, the PIN is not \
            tried, unless you correct it and use --try-pin.
            """
    )

    @Argument(help: "Key files (default: the key folder).")
    var files: [String] = []

    @Flag(help: "Try the PIN of a token once, even if a wrong PIN was entered since the last login.")
    var tryPin = false

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
            var tokens = TokenKeys(configuration.keys.tokens, triesPIN: tryPin)
            _ = tokens.scan(at: .now, .first)
            if watcher.keys.isEmpty, tokens.keys.isEmpty {
                problems.append(
                    Diagnostic(
                        "there is no key file in \(folder.path)",
                        hint: "put SubscriptionKey_<KEYID>.p8 from App Store Connect there, or name another folder"))
            }
            for status in tokens.keys + watcher.keys {
                switch status {
                case .key(let key):
                    report((key.pair as? TokenKey)?.settings.uri.description ?? folder.filePath(of: key.id), key.pair)
                case .refused(_, let problem): problems.append(problem)
                case .unsettled: break  // cannot occur in the first scan
                }
            }
        }
        guard problems.isEmpty else { throw ConfigurationError(problems: problems) }
    }

    private func report(_ file: String, _ key: any SigningKeyPair) {
        StandardStreams.print(
            "ok: \(file) signs (\(KeyForm.text(of: key)); SHA-256 of the public key \(key.fingerprint))\n")
    }
}
