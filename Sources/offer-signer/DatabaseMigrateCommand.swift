import ArgumentParser
import OfferCore
import SubscriberStore

/// `offer-signer database migrate`: brings the database to the latest version.
struct DatabaseMigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Create the database, or bring it to the version of this program.",
        discussion: """
            'serve' does this by itself. Run it before an upgrade to learn whether it works, or to create the database with \
            another account. A database of a newer version is refused and left alone.
            """
    )

    @OptionGroup var options: DatabaseOptions

    func run() async throws {
        try await options.withStore(mayBeNew: true) { _ in }
        StandardStreams.print("ok: the database has the version of this program\n")
    }
}
