import AppStoreAPI
import ArgumentParser
import FoundationEssentials
import OfferCore

/// `offer-signer retention images`: manages the images of messages.
struct RetentionImagesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "images", abstract: "Upload, list and delete images for retention messages.",
        subcommands: [Upload.self, List.self, Delete.self])

    struct Upload: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Upload an image for retention messages.",
            discussion: """
                The file must be PNG without transparency: 3840 pixels wide and 160 to 2160 high, or 1024 by 1024 for a bullet \
                point. Prints the identifier of the image, which messages name.
                """)

        @OptionGroup var options: AppStoreOptions

        @Option(
            help: ArgumentHelp("The identifier (default: a new one). Each can be used once.", valueName: "uuid"),
            transform: UUIDText.init(option:))
        var id: UUIDText?

        @Flag(help: "The image is for a bullet point.") var bulletPoint = false

        @Argument(help: ArgumentHelp("The PNG file.", valueName: "file")) var file: String

        func run() async throws {
            guard let png = FileManager.default.contents(atPath: file) else {
                throw CommandError("\(file.printable) cannot be read", hint: "name a PNG file")
            }
            let image: RetentionImage
            do throws(UploadFault) {
                image = try RetentionImage(png: [UInt8](png), size: bulletPoint ? .bulletPoint : .full)
            } catch { throw CommandError(error) }
            let id = id ?? .random()
            try await options.send(.uploadImage(image, as: id))
            StandardStreams.print("\(id)\n")
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the images for retention messages, with their states and sizes.")
        @OptionGroup var options: AppStoreOptions

        func run() async throws { try await options.list(.images()) }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete an image for retention messages. First delete the messages that use it.")
        @OptionGroup var options: AppStoreOptions
        @Argument(
            help: ArgumentHelp("The identifier of the image.", valueName: "uuid"), transform: UUIDText.init(option:))
        var id: UUIDText

        func run() async throws { try await options.send(.deleteImage(id)) }
    }
}
