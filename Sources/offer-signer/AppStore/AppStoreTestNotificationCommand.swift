import AppStoreAPI
import ArgumentParser
import OfferCore
import OfferEligibility
import OfferService
import SubscriberSync

/// `offer-signer app-store test-notification`: requests a test notification from the App Store and reports the outcome.
struct AppStoreTestNotificationCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test-notification",
        abstract: "Have the App Store send a test notification, and report whether it arrived.",
        discussion: """
            Shows whether the App Store reaches your URL for notifications, and whether the key and the issuer ID are right:

              offer-signer app-store test-notification --environment Sandbox

            Waits up to 30 seconds for the result. Exits with status 0 if the notification was delivered, otherwise 1.
            """
    )

    @OptionGroup var options: AppStoreOptions

    func run() async throws {
        try await options.withAppStore { asking, app in
            let token = try await asking.client.send(.testNotification(), for: app)
            StandardStreams.printError("requested; waiting for the result\n")
            guard let sent = try await Self.result(of: token, app, asking.client), let attempt = sent.attempts.last
            else {
                throw CommandError(
                    "the App Store has no result yet", hint: "wait a minute, and look for TEST in the service's log")
            }
            guard attempt.result == "SUCCESS" else {
                throw CommandError(
                    "the App Store could not deliver the notification: \(attempt.result.printable)",
                    hint: "check the URL in App Store Connect; docs/app-store.md lists its requirements")
            }
            StandardStreams.print("ok: the App Store delivered the test notification\n")
        }
    }

    private static func result(
        of token: String, _ app: AppScope, _ client: AppStoreClient
    ) async throws -> SentNotification? {
        for _ in 0..<15 {
            do throws(APIFailure) {
                let sent = try await client.send(.testNotificationStatus(token), for: app)
                if !sent.attempts.isEmpty { return sent }
            } catch {
                guard case .refused(.testNotificationNotFound) = error else { throw error }
            }
            try await Task.sleep(for: .seconds(2))
        }
        return nil
    }
}
