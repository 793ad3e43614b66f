import AppStoreAPI
import ArgumentParser
import OfferCore

/// `offer-signer retention messages`: manages the messages that can be shown.
struct RetentionMessagesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "messages", abstract: "Upload, list and delete retention messages.",
        subcommands: [Upload.self, List.self, Delete.self])

    struct Upload: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Upload a retention message in one language.",
            discussion: """
                Checks the message as Apple does, uploads it, and prints its identifier, which the configuration file names. \
                Apple approves it later, or immediately in the sandbox. Messages for another plan or an offer must have no image.

                  offer-signer retention messages upload --header 'Stay with us' --body 'Three months at half price.'
                """)

        @OptionGroup var options: AppStoreOptions

        @Option(
            help: ArgumentHelp("The identifier (default: a new one). Each can be used once.", valueName: "uuid"),
            transform: UUIDText.init(option:))
        var id: UUIDText?

        @Option(help: ArgumentHelp("The header, up to 66 characters.", valueName: "text")) var header: String
        @Option(help: ArgumentHelp("The body, up to 144 characters.", valueName: "text")) var body: String

        @Option(
            help: ArgumentHelp("The identifier of an uploaded image.", valueName: "uuid"),
            transform: UUIDText.init(option:))
        var image: UUIDText?

        @Option(help: ArgumentHelp("A description of the image, up to 150 characters.", valueName: "text"))
        var altText: String?

        @Flag(help: "Show the header above the image instead of above the body.") var headerAboveImage = false

        @Option(help: ArgumentHelp("A bullet point of up to 66 characters; up to five times.", valueName: "text"))
        var bullet: [String] = []

        @Option(
            help: ArgumentHelp("The identifier of each bullet point's image, in the same order.", valueName: "uuid"),
            transform: UUIDText.init(option:))
        var bulletImage: [UUIDText] = []

        @Option(help: ArgumentHelp("A description of each of these images, in the same order.", valueName: "text"))
        var bulletAltText: [String] = []

        func validate() throws {
            guard (image == nil) == (altText == nil) else {
                throw ValidationError("--image and --alt-text go together")
            }
            guard bullet.count == bulletImage.count, bullet.count == bulletAltText.count else {
                throw ValidationError("each --bullet needs a --bullet-image and a --bullet-alt-text")
            }
        }

        func run() async throws {
            let message: RetentionMessage
            do throws(UploadFault) { message = try self.message() } catch { throw CommandError(error) }
            let id = id ?? .random()
            try await options.send(.uploadMessage(message, as: id))
            StandardStreams.print("\(id)\n")
        }

        private func message() throws(UploadFault) -> RetentionMessage {
            var picture: RetentionMessage.Image?
            if let image, let altText { picture = try RetentionMessage.Image(identifier: image, altText: altText) }
            var bullets: [RetentionMessage.Bullet] = []
            for (text, (image, altText)) in zip(bullet, zip(bulletImage, bulletAltText)) {
                bullets.append(
                    try RetentionMessage.Bullet(
                        text: text, image: RetentionMessage.Image(identifier: image, altText: altText)))
            }
            return try RetentionMessage(
                header: header, body: body, image: picture, headerPosition: headerAboveImage ? .aboveImage : nil,
                bullets: bullets)
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the retention messages with their states.")
        @OptionGroup var options: AppStoreOptions

        func run() async throws { try await options.list(.messages()) }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Delete a retention message.")
        @OptionGroup var options: AppStoreOptions
        @Argument(
            help: ArgumentHelp("The identifier of the message.", valueName: "uuid"), transform: UUIDText.init(option:))
        var id: UUIDText

        func run() async throws { try await options.send(.deleteMessage(id)) }
    }
}
