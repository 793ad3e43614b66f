import AppStoreAPI
import ArgumentParser
import OfferCore

/// `offer-signer retention defaults`: manages the messages that are shown if the service gives no answer.
struct RetentionDefaultsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "defaults",
        abstract: "Set, show and delete the default retention message of a product and locale.",
        subcommands: [Set.self, Show.self, Delete.self])

    /// The product and locale of a default.
    struct Place: ParsableArguments {
        @Option(
            help: ArgumentHelp("The product.", valueName: "id"),
            transform: ProductID.init(option:))
        var productID: ProductID

        @Option(help: ArgumentHelp("The locale, such as en-US.", valueName: "locale")) var locale: String
    }

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Set or replace the default retention message of a product and locale.",
            discussion: """
                Each product needs a default message for each locale. Without it, nothing may be shown when an answer fails or comes too \
                late: the App Store has only the message of App Store Connect, if there is one.

                  offer-signer retention defaults set --product-id com.example.app.pro.monthly --locale en-US UUID
                """)

        @OptionGroup var options: AppStoreOptions
        @OptionGroup var place: Place
        @Argument(
            help: ArgumentHelp("The identifier of an approved message.", valueName: "uuid"),
            transform: UUIDText.init(option:))
        var message: UUIDText

        func run() async throws {
            try await options.send(.setDefaultMessage(message, for: place.productID, in: place.locale))
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the identifier of the default retention message of a product and locale.")
        @OptionGroup var options: AppStoreOptions
        @OptionGroup var place: Place

        func run() async throws {
            let identifier = try await options.send(.defaultMessage(for: place.productID, in: place.locale))
            StandardStreams.print(identifier.printable + "\n")
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete the default retention message of a product and locale.")
        @OptionGroup var options: AppStoreOptions
        @OptionGroup var place: Place

        func run() async throws {
            try await options.send(.deleteDefaultMessage(for: place.productID, in: place.locale))
        }
    }
}

extension ProductID {
    init(option text: String) throws {
        do { self = try ProductID(utf8: Array(text.utf8), field: "It") } catch {
            throw ValidationError(error.description)
        }
    }
}
