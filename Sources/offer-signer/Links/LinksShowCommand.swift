import ArgumentParser
import OfferConfiguration
import OfferCore
import OfferEligibility
import SubscriberStore

/// `offer-signer links show`: the results of each campaign.
struct LinksShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show how many links of each campaign were made, opened in a browser, and opened in the app.",
        discussion: """
            Visits to the pages include those of programs that scan mail. The redemptions, compared with those of the \
            customers who were left out, are in the report of the offer:

              offer-signer report winback_1m --sample link:spring
            """
    )

    @Option(help: "The name of the campaign; all campaigns if none is named.") var campaign: String?
    @Option(
        help: "The environment: Production (the default, if the app has it), Sandbox, Xcode or LocalTesting.",
        transform: AppStoreEnvironment.init(option:))
    var environment: AppStoreEnvironment?
    @OptionGroup var options: DatabaseOptions

    func run() async throws {
        let configuration = try options.configuration()
        if let campaign { _ = try configuration.campaign(campaign, in: environment) }
        let apps = try configuration.appsWithCampaigns()
        try await options.withStore { store in
            for (id, app, links) in apps {
                let scope = AppScope(bundleID: id, environment: environment ?? app.firstEnvironment)
                let counts = try await store.linkCounts(in: scope)
                for name in links.campaigns.map(\.name) where campaign == nil || campaign == name {
                    let count = counts[name] ?? LinkCounts()
                    StandardStreams.print(
                        "\(name) (\(id.text), \(scope.environment.rawValue.printable)): \(count.made) personal links made, "
                            + "\(count.heldOut) customers left out, \(count.personalVisits) visits to their pages, "
                            + "\(count.claimed) opened in the app; "
                            + "\(count.campaignVisits) visits to the campaign's page\n")
                }
            }
        }
    }
}
