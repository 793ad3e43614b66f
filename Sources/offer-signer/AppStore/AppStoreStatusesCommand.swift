import AppStoreAPI
import AppStoreData
import ArgumentParser
import OfferCore
import OfferEligibility
import OfferService
import SubscriberSync

/// `offer-signer app-store statuses`: prints the App Store's statuses of a customer's subscriptions.
struct AppStoreStatusesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "statuses",
        abstract: "Print the state of a customer's subscriptions from the App Store.",
        discussion: """
            Prints one line of JSON for each subscription: its status, and the verified transaction and renewal info \
            with Apple's member names. Stores nothing.

              offer-signer app-store statuses --transaction-id 2000000123456789
            """
    )

    @OptionGroup var options: AppStoreOptions
    @OptionGroup var customer: AppStoreTransactionOptions

    func run() async throws {
        let id = customer.transactionID
        try await options.withAppStore { asking, app in
            let statuses = try await asking.client.send(.subscriptionStatuses(of: id), for: app)
            for item in statuses.items {
                var writer = JSONWriter()
                writer.member("originalTransactionId", utf8: item.originalTransactionID.text.utf8)
                writer.member("status", item.status.rawValue)
                writer.rawValue(
                    "signedTransactionInfo",
                    try asking.payload(SignedTransaction.self, of: item.signedTransaction, about: app))
                if let info = item.signedRenewalInfo {
                    writer.rawValue("signedRenewalInfo", try asking.payload(RenewalInfo.self, of: info, about: app))
                }
                StandardStreams.print(String(decoding: writer.finish(), as: UTF8.self) + "\n")
            }
        }
    }
}
