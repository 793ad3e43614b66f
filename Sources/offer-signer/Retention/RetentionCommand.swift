import AppStoreAPI
import ArgumentParser
import OfferCore
import OfferCrypto
import OfferEligibility
import OfferService
import SubscriberSync

/// `offer-signer retention`: sets up the messages that the App Store shows to customers who are about to cancel.
struct RetentionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retention",
        abstract: "Set up retention messages in the App Store: texts, images, defaults, URL, performance test.",
        subcommands: [
            RetentionMessagesCommand.self, RetentionImagesCommand.self, RetentionDefaultsCommand.self,
            RetentionURLCommand.self, RetentionPerformanceTestCommand.self,
        ]
    )
}

extension UUIDText {
    init(option text: String) throws {
        guard let uuid = UUIDText(parsing: Array(text.utf8)) else { throw ValidationError("It must be a UUID.") }
        self = uuid
    }

    /// Creates a random identifier, for an upload without a chosen one.
    static func random() -> UUIDText {
        var random = SystemRandomNumbers()
        return Nonce(using: &random).uuid
    }
}

extension CommandError {
    /// The error for an upload that Apple would refuse.
    init(_ fault: UploadFault) { self.init(fault.description, hint: "correct it; nothing was sent") }
}

extension AppStoreOptions {
    /// Sends one request about the chosen app.
    func send<Answer: Sendable>(_ call: APICall<Answer>) async throws -> Answer {
        try await withAppStore(withoutStore: true) { asking, app in try await asking.client.send(call, for: app) }
    }

    /// Lists the uploaded items, one per line, with their states.
    func list(_ call: APICall<[UploadedItem]>) async throws {
        for item in try await send(call) {
            let parts = [item.identifier, item.state] + [item.size].compactMap(\.self)
            StandardStreams.print(parts.map(\.printable).joined(separator: " ") + "\n")
        }
    }
}
