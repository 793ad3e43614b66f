import ArgumentParser
import OfferCore
import SubscriberStore

/// `offer-signer database migrate`: migrates the database to the latest version.
struct DatabaseMigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Create the database, or upgrade it to this program's version.",
        discussion: """
            'serve' does this by itself. Run it before an upgrade to learn whether it works, or to create the database \
            under another account. A database with a newer version is refused and left unchanged.
            """
    )

    @OptionGroup var options: DatabaseOptions

    func run() async throws {
        let before = try options.inspect()
        try await options.withStore(.migrating) { _ in }
        StandardStreams.print("ok: \(Self.sentence(before, latest: try options.latestVersion()))\n")
    }

    private static func sentence(_ before: StoreInspection, latest: Int) -> String {
        switch before {
        case .absent: "the database was created with version \(latest)"
        case .exists(latest): "the database has version \(latest), the latest"
        case .exists(let version): "the database was upgraded from version \(version) to version \(latest)"
        }
    }
}
