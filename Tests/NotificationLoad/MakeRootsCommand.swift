import AppStoreTestSupport
import ArgumentParser

struct MakeRootsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "make-roots", abstract: "Make a chain like Apple's, with throw-away keys.",
        discussion: "Give root.pem to the service as SUBSCRIPTION_OFFERS_APP_STORE_ROOTS.")

    @Argument(help: "The folder to write. It must not hold a chain yet.")
    var folder: String

    func run() throws { try NotificationSigner.make(in: folder) }
}
