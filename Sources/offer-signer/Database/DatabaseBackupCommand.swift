import ArgumentParser
import NIOConcurrencyHelpers
import OfferCore
import SubscriberStore

/// `offer-signer database backup`: copies the database while the service runs.
struct DatabaseBackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy the database to a new file, even while the service runs.",
        discussion: """
            The copy is a consistent snapshot. It appears only after a check, and only this account can read \
            it. To restore it, stop the service, replace the database with the file, delete the files next to it that \
            end in -wal and -shm, and start the service.

              offer-signer database backup /backups/offer-signer-2026-11-23.sqlite
            """
    )

    @Argument(help: "The file to create.") var path: String
    @OptionGroup var options: DatabaseOptions

    func run() async throws {
        try await options.withStore(.anyVersion) { store in
            let shown = NIOLockedValueBox(0)
            try await store.backUp(to: path) { share in
                let tenth = Int(share * 10)
                let isNew = shown.withLockedValue { shown in
                    defer { shown = max(shown, tenth) }
                    return tenth > shown
                }
                if isNew { StandardStreams.printError("\(tenth * 10) %\n") }
            }
        }
        StandardStreams.print("ok: the backup in \(path) is sound\n")
    }
}
