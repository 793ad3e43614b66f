import ArgumentParser
import FoundationEssentials
import OfferCore
import OfferCrypto
import OfferServer

/// `offer-signer verify`: whether a signature is one over the fields that come with it.
struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Verify one signed offer: JSON in, JSON out.",
        discussion: """
            Takes what the app passed to StoreKit: the fields of the offer with keyID, nonce, timestamp and signature, as \
            'sign' prints them. The key is the one with that ID in the folder of keys, or --public-key. Exit status 0 if the \
            signature verifies, else 1.
            """
    )

    @Option(help: "A file with the public key in PEM (PUBLIC KEY), instead of the folder of keys.")
    var publicKey: String?

    @OptionGroup var key: KeyFolderOptions
    @OptionGroup var input: JSONInput

    func run() throws {
        let members = try input.read()
        let presented: PresentedOffer
        do { presented = try PresentedOffer(members) } catch { throw CommandError(error) }
        let verifies = try verifyingKey(for: presented.payload.keyID).verify(
            presented.signature, of: presented.payload.bytes)
        StandardStreams.print(String(decoding: presented.verdict(verifies: verifies), as: UTF8.self) + "\n")
        if !verifies { throw ExitCode(1) }
    }

    private func verifyingKey(for id: KeyID) throws -> VerifyingKey {
        guard let publicKey else { return try KeyFile.read(id, in: key.openFolder()).verifyingKey }
        do {
            return try VerifyingKey(pem: [UInt8](Data(contentsOf: URL(filePath: publicKey))))
        } catch {
            throw CommandError("\(publicKey) cannot be read as a P-256 public key in PEM (\(error))")
        }
    }
}
