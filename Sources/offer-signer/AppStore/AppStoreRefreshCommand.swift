import ArgumentParser
import OfferCore
import OfferEligibility
import OfferService
import SubscriberSync

/// `offer-signer app-store refresh`: refreshes one customer from the App Store and stores the answer.
struct AppStoreRefreshCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refresh",
        abstract: "Refresh a customer from the App Store, and store the result.",
        discussion: """
            Reads the state of all subscriptions of the customer, and all transactions. 'customers show' then prints \
            what is known.

              offer-signer app-store refresh --transaction-id 2000000123456789
            """
    )

    @OptionGroup var options: AppStoreOptions
    @OptionGroup var customer: AppStoreTransactionOptions

    func run() async throws {
        let id = customer.transactionID
        try await options.withAppStore { asking, app in
            let statuses = try await asking.refresh.statuses(of: id, in: app)
            let history = try await asking.refresh.history(of: id, in: app)
            let subscriptions = Set(statuses.facts.map(\.originalTransactionID)).count
            StandardStreams.print(
                "ok: \(subscriptions) subscriptions, and \(history.facts.count) transactions that are new or changed\n")
        }
    }
}
