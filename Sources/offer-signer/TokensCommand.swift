import ArgumentParser
import OfferCore
import OfferCrypto
import OfferServer

/// `offer-signer tokens`: what there is to do with callers' tokens.
struct TokensCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tokens",
        abstract: "Make tokens for callers.",
        subcommands: [New.self]
    )

    /// `offer-signer tokens new`.
    struct New: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "new",
            abstract: "Make a token at random, and print it with its digest.",
            discussion: """
                The caller gets the token and sends it as Authorization: Bearer. The configuration file gets the digest, \
                as tokenSHA256 of a caller: whoever reads the file cannot ask with it. The token is not kept anywhere.
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
