import ArgumentParser
import FoundationEssentials
import OfferConfiguration
import OfferCore
import OfferCrypto
import OfferEligibility
import OfferKeys
import OfferService

/// `offer-signer keys generate`: generates a key for tests.
struct KeysGenerateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate",
        abstract: "Generate a P-256 key for tests.",
        discussion: """
            Writes SubscriptionKey_<KEYID>.p8, readable only by its owner, and prints the public half. The App Store accepts \
            only keys created in App Store Connect, so it refuses signatures made with this one.
            """
    )

    @Option(help: "ID of the new key: ten capital letters and digits (default: random).")
    var keyID: String?

    @OptionGroup var folder: KeyFolderOptions

    func run() throws {
        let id: KeyID
        do { id = try KeyID(utf8: Array((keyID ?? Self.randomID()).utf8)) } catch { throw CommandError("\(error)") }
        let folder = try folder.readConfiguration().keys.folder
        let pem = try PrivateKeyPEM.generate()
        do { try folder.create(id, pem: pem) } catch { throw error.problem }
        let publicKey = try KeyFile.read(id, in: folder).verifyingKey
        var writer = JSONWriter()
        writer.member("keyID", "\(id)")
        writer.member("file", folder.filePath(of: id))
        writer.member("publicKey", Data(publicKey.der).base64EncodedString())
        StandardStreams.print(String(decoding: writer.finish(), as: UTF8.self) + "\n")
        StandardStreams.printError("note: the App Store does not know this key and refuses its signatures\n")
    }

    private static func randomID() -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
        return String((0..<10).map { _ in alphabet[Int.random(in: alphabet.indices)] })
    }
}
