import AppStoreAPI
import AppStoreData
import ArgumentParser
import OfferCore
import OfferEligibility
import OfferService
import SubscriberSync

/// `offer-signer app-store history`: prints a customer's transactions.
struct AppStoreHistoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Print all transactions of a customer from the App Store.",
        discussion: """
            Prints one verified transaction per line, with Apple's member names, from the least to the most recently \
            modified. Stores nothing.

              offer-signer app-store history --transaction-id 2000000123456789
            """
    )

    @OptionGroup var options: AppStoreOptions
    @OptionGroup var customer: AppStoreTransactionOptions

    func run() async throws {
        let id = customer.transactionID
        try await options.withAppStore { asking, app in
            var revision: HistoryRevision?
            while true {
                let page = try await asking.client.send(.transactionHistory(of: id, after: revision), for: app)
                for text in page.signedTransactions {
                    let payload = try asking.payload(SignedTransaction.self, of: text, about: app)
                    StandardStreams.print(String(decoding: payload, as: UTF8.self) + "\n")
                }
                revision = page.revision
                guard page.hasMore else { return }
            }
        }
    }
}
