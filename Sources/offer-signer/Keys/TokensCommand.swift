import ArgumentParser
import OfferCore
import OfferCrypto

/// `offer-signer tokens`: commands for callers' tokens.
struct TokensCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tokens",
        abstract: "Create tokens for callers.",
        subcommands: [New.self]
    )

    /// `offer-signer tokens new`: creates a token.
    struct New: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "new",
            abstract: "Create a random token and print it with its digest.",
            discussion: """
                Give the token to the caller, which sends it in Authorization: Bearer. Put the digest into the configuration \
                file as the caller's tokenSHA256; the digest does not reveal the token. The token is not stored anywhere.
                """
        )

        func run() throws {
            let token = "ost_" + Hexadecimal.text(of: try RandomSecret.make())
            var writer = JSONWriter()
            writer.member("token", token)
            writer.member("tokenSHA256", Hexadecimal.text(of: try SHA256.hash(Array(token.utf8))))
            StandardStreams.print(String(decoding: writer.finish(), as: UTF8.self) + "\n")
        }
    }
}
