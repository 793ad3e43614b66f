import ArgumentParser
import OfferConfiguration
import OfferCore
import OfferCrypto
import OfferEligibility
import OfferKeys
import OfferPKCS11
import OfferService

/// `offer-signer keys import`: copies a key file into a PKCS#11 token.
struct KeysImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Put a key file into a PKCS#11 token.",
        discussion: """
            Creates the private key in the token, as one that can only sign and that the token does not give out, and its \
            public half. Makes a signature with it, which must verify with the public half of the file. Prints the entry for \
            the configuration file, and how to destroy the file:

              offer-signer keys import keys/SubscriptionKey_2X9R4HXF34.p8 --token 'pkcs11:token=offers' \\
                --module /usr/lib/softhsm/libsofthsm2.so --pin-file /etc/offer-signer/offers.pin

            The key gets the label and ID of the URI (object and id), or else the key ID. A key is never replaced. Tokens that \
            refuse this way of import have tools of their own; see docs/keys-in-tokens.md.
            """
    )

    @Argument(help: "The key file, SubscriptionKey_<KEYID>.p8.")
    var file: String

    @Option(help: ArgumentHelp("The PKCS#11 URI of the token (RFC 7512).", valueName: "uri"))
    var token: String

    @Option(help: ArgumentHelp("The library of the token's PKCS#11 module, with its absolute path.", valueName: "path"))
    var module: String

    @Option(help: ArgumentHelp("The file that contains the PIN.", valueName: "path"))
    var pinFile: String?

    @Option(
        help: ArgumentHelp(
            "The refusalFile of the configuration: it exists while the token refuses the PIN (default: the PIN file's path and "
                + "'.refused').", valueName: "path"))
    var refusalFile: String?

    @Option(help: "The key ID (default: the one in the name of the file).")
    var keyID: String?

    @Flag(Settings.allowReadableKeys) var allowReadableKeys: Bool

    func run() throws {
        guard module.hasPrefix("/") else {
            throw CommandError("--module is not an absolute path", hint: "begin it with /")
        }
        let id = try readID()
        let key = try KeyFile.read(file, allowsReadableByOthers: allowReadableKeys)
        let number: SecretBytes
        do {
            number = try PrivateNumber.read(text: KeyFolder.read(file, allowsReadableByOthers: allowReadableKeys))
        } catch {
            throw CommandError("\(file) cannot be read: \(error)")
        }
        let uri = try readURI(of: id)
        let pin = pinFile.map { path in
            PINFile(path: path, allowsReadableByOthers: allowReadableKeys, refusalFile: refusalFile)
        }
        let settings = TokenKeySettings(
            id: id, uri: uri, place: TokenPlace(module: module, token: uri.token, pin: pin, sessions: 1))
        let created: TokenKey
        do throws(TokenFault) {
            created = try TokenKey.create(settings, from: key, number: number, in: TokenConnection(settings.place))
        } catch {
            throw Diagnostic("key \(id) cannot be put into the token: \(error)", hint: error.hint)
        }
        StandardStreams.print(
            "ok: \(uri) signs (\(KeyForm.text(of: created)); SHA-256 of the public key \(created.fingerprint))\n"
                + entry(settings))
        StandardStreams.printError(advice)
    }

    /// The key's entry in the configuration file. JSON strings are valid YAML.
    private func entry(_ settings: TokenKeySettings) -> String {
        var lines = ["keys:", "  - id: \(settings.id)", "    uri: \(Self.quoted(settings.uri.description))"]
        lines.append("    module: \(Self.quoted(settings.place.module))")
        if let pin = settings.place.pin {
            lines.append("    pinFile: \(Self.quoted(pin.path))")
            if let path = pin.refusalFile { lines.append("    refusalFile: \(Self.quoted(path))") }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func quoted(_ text: String) -> String {
        var writer = JSONWriter()
        writer.member("a", text)
        return String(decoding: writer.finish().dropFirst(5).dropLast(), as: UTF8.self)
    }

    private var advice: String {
        """
        note: add this entry to the configuration file, send SIGHUP, and check that 'offer-signer keys list' shows the token
        note: then destroy \(file) and every copy of it: downloads, backups, images, and volumes that were deleted. shred -u \
        overwrites a file only on disks and file systems that write in place. Apple does not let you download the key again: \
        without the token, you would need a new one. A copy that might exist is a reason to make a new key and revoke this one.

        """
    }

    private func readID() throws -> KeyID {
        let id = keyID.map { try? KeyID(utf8: Array($0.utf8)) } ?? KeyFolder.keyID(inNameOf: file)
        guard let id, id.hasAppStoreConnectForm else {
            throw CommandError(
                "the key ID is unknown", hint: "name it with --key-id: ten capital letters and digits")
        }
        return id
    }

    private func readURI(of id: KeyID) throws -> PKCS11URI {
        do throws(PKCS11URIError) {
            do throws(PKCS11URIError) { return try PKCS11URI(token) } catch .noKey {
                return try PKCS11URI(token + ";object=\(id)")
            }
        } catch { throw CommandError("--token: \(error)", hint: error.hint) }
    }
}
