import AppStoreAPI
import ArgumentParser
import OfferCore
import OfferEligibility

/// `offer-signer retention url`: the URL from which the App Store requests messages.
struct RetentionURLCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "url", abstract: "Set, show and delete the URL for retention message requests.",
        subcommands: [Set.self, Show.self, Delete.self])

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Set or replace the URL of an environment.",
            discussion: """
                Set the sandbox URL first, and pass the performance test. Until then, Apple refuses a production URL.

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
        static let configuration = CommandConfiguration(abstract: "Print the URL of an environment.")
        @OptionGroup var options: AppStoreOptions

        func run() async throws { StandardStreams.print(try await options.send(.realtimeURL()).printable + "\n") }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove the URL of an environment. The App Store shows default messages from then on.")
        @OptionGroup var options: AppStoreOptions

        func run() async throws { try await options.send(.deleteRealtimeURL()) }
    }
}
