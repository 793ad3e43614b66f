import ArgumentParser
import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferService
import SubscriberStore
import SubscriberSync

/// `offer-signer alarms show`: lists the redemptions that no signature explains.
struct AlarmsShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "List the redemptions that no signature of this service explains.",
        discussion: """
            Only this service signs for the configured apps, except offers without a rule or with signedElsewhere. If \
            the App Store reports any other redemption without a signature in the ledger, somebody else may hold a \
            key. Prints the number, time, app, product and offer of each, the oldest first. Exits with status 1 if \
            there are any.
            """
    )

    @OptionGroup var options: DatabaseOptions

    func run() async throws {
        let alarms = try await options.alarms()
        for alarm in alarms { StandardStreams.print(alarm.line) }
        guard alarms.isEmpty else { throw ExitCode.failure }
        StandardStreams.print("ok: every redemption has a signature of this service\n")
    }
}

extension DatabaseOptions {
    /// Returns the redemptions without a signature that nobody has acknowledged.
    func alarms() async throws -> [LedgerRedemption] {
        let apps = try configuration().catalogue?.ledgerCoverage.apps ?? []
        return try await withStore { try await $0.unexplainedRedemptions(in: apps, limit: 10_000) }
    }
}

extension LedgerRedemption {
    /// The redemption as a line of output.
    var line: String {
        let time = String(decoding: at.iso8601, as: UTF8.self)
        return
            "\(number) \(time) \(app.bundleID.text) \(app.environment.rawValue) \(productID.text) \(offerID.printable)\n"
    }
}
