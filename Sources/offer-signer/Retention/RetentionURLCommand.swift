import AppStoreAPI
import ArgumentParser
import OfferCore
import OfferEligibility

/// `offer-signer retention url`: manages the URL from which the App Store requests retention messages.
struct RetentionURLCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "url",
        abstract: "Set, show and delete the URL to which the App Store sends retention message requests.",
        subcommands: [Set.self, Show.self, Delete.self])

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Set or replace the URL to which the App Store sends retention message requests.",
            discussion: """
                Set the sandbox URL first, and pass the performance test. Before that, Apple refuses a production URL.

                  offer-signer retention url set --environment Sandbox https://offers.example.com/v1/retention-messages
                """)

        @OptionGroup var options: AppStoreOptions
        @Argument(help: ArgumentHelp("An HTTPS URL of up to 256 characters.", valueName: "url")) var url: String

        func run() async throws {
            let url: RealtimeURL
            do throws(UploadFault) { url = try RealtimeURL(self.url) } catch { throw CommandError(error) }
            try await options.send(.setRealtimeURL(url))
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the URL to which the App Store sends retention message requests.")
        @OptionGroup var options: AppStoreOptions

        func run() async throws { StandardStreams.print(try await options.send(.realtimeURL()).printable + "\n") }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Delete the URL for retention message requests. The App Store then shows what App Store Connect or the default messages say."
        )
        @OptionGroup var options: AppStoreOptions

        func run() async throws { try await options.send(.deleteRealtimeURL()) }
    }
}
