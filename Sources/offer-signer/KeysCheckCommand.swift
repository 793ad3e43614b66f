import ArgumentParser
import OfferCore
import OfferCrypto
import OfferServer
import OfferStorage

/// `offer-signer keys check`.
struct KeysCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Tell whether key files can sign, before the service has to.",
        discussion: """
            Holds each file to what 'serve' asks of it: its mode, its form, and a signature that has to verify. Without a \
            file, the whole folder. Exit status 1 if something is wrong.
            """
    )

    @Argument(help: "Key files; the folder of keys without any.")
    var files: [String] = []

    @OptionGroup var folder: KeyFolderOptions

    func run() throws {
        let configuration = try folder.readConfiguration()
        var problems: [SetupProblem] = []
        for file in files {
            do {
                let key = try KeyFile.read(file, allowsReadableByOthers: configuration.allowsReadableKeys)
                report(file, key)
            } catch {
                problems.append(error)
            }
        }
        if files.isEmpty {
            let folder = KeyFolder(configuration)
            var shelf = KeyShelf(folder: folder) { _, text in try SigningKey(text: text) }
            _ = shelf.look(at: .now, .first)
            if shelf.findings.isEmpty {
                problems.append(
                    SetupProblem(
                        "there is no key file in \(folder.path)",
                        hint: "put SubscriptionKey_<KEYID>.p8 from App Store Connect there, or name another folder"))
            }
            for finding in shelf.findings {
                switch finding {
                case .key(let key): report(folder.filePath(of: key.id), key.pair)
                case .refused(_, let problem): problems.append(problem)
                case .unsettled: break  // not at the first look
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
