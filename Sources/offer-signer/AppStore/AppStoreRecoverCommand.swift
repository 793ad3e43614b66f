import ArgumentParser
import OfferCore
import OfferEligibility
import OfferService
import SubscriberSync

/// `offer-signer app-store recover`: reads the App Store's notification history and stores missing notifications.
struct AppStoreRecoverCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recover",
        abstract: "Store notifications that never arrived, from the App Store's notification history.",
        discussion: """
            The service does this by itself, at start and every hour. Use this command to go further back, for \
            example after restoring an old backup:

              offer-signer app-store recover --since 2026-06-01T00:00:00Z

            The App Store keeps notifications for 180 days, and those of the sandbox for 30 days. Repeating the \
            command is harmless, even while the service runs.
            """
    )

    @OptionGroup var options: AppStoreOptions

    @Option(
        help: ArgumentHelp(
            "The earliest notification to read, as 2026-06-01T00:00:00Z or in milliseconds since 1970 (default: as far "
                + "back as the App Store goes).", valueName: "time"),
        transform: Timestamp.init(option:))
    var since: Timestamp?

    @Flag(help: "Read only notifications that the App Store could not deliver.")
    var onlyFailures = false

    func run() async throws {
        let (since, onlyFailures) = (since ?? .min, onlyFailures)
        try await options.withAppStore { asking, app in
            var progress = Progress()
            let counts = try await asking.recovery.run(of: app, from: since, onlyFailures: onlyFailures) { counts in
                progress.report("\(counts.listed) notifications read; \(counts.recovered) of them were missing")
            }
            StandardStreams.print(
                "ok: \(counts.listed) notifications read, \(counts.recovered) recovered, \(counts.refused) refused\n")
        }
    }
}
