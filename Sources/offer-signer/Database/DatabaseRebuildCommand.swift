import ArgumentParser
import OfferConfiguration
import OfferCore
import OfferService
import SubscriberStore
import SubscriberSync

/// `offer-signer database rebuild`: derives the facts again from the stored notifications.
struct DatabaseRebuildCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rebuild",
        abstract: "Derive the facts again from all kept notifications, after an upgrade that reads them better.",
        discussion: """
            Verifies each kept notification again, replaces the facts derived from it, and withdraws those that are \
            no longer derived. If any are withdrawn, all notifications are read a second time. Facts from proofs, and \
            from notifications that are no longer kept, stay unchanged. Notifications that cannot be read are listed and left \
            unchanged. Repeating the command is harmless.
            """
    )

    @OptionGroup var options: DatabaseOptions

    func run() async throws {
        let configuration = try options.configuration()
        guard let catalogue = configuration.catalogue else {
            throw CommandError("no app is configured", hint: "name your apps in the configuration file")
        }
        let result = try await options.withStore { store in
            var progress = Progress()
            return try await NotificationReplay(store, configuration.appStore, catalogue).run { result in
                progress.report("\(result.read) notifications read, \(result.skipped) skipped")
            } skip: { notification, refusal in
                StandardStreams.printError(
                    "skipped \(notification.notificationUUID.description.printable): \("\(refusal)".printable)\n")
            }
        }
        StandardStreams.print(
            "ok: \(result.read) notifications read, \(result.skipped) skipped, \(result.withdrawn) facts withdrawn\n")
    }
}
