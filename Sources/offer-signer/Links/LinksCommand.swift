import ArgumentParser
import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferService
import SubscriberStore

/// `offer-signer links`: the links of campaigns.
struct LinksCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "links",
        abstract: "Make the personal links of a mailing, and show their results.",
        subcommands: [LinksMakeCommand.self, LinksShowCommand.self]
    )
}

/// A campaign and its app.
struct ConfiguredCampaign {
    let campaign: Campaign
    let scope: AppScope
    let app: Catalogue.App
}

extension Configuration {
    /// The apps that have campaigns.
    func appsWithCampaigns() throws(CommandError) -> [(BundleID, Catalogue.App, LinkPolicy)] {
        let apps = (catalogue?.apps ?? [:]).compactMap { id, app in app.rules.links.map { (id, app, $0) } }
        guard !apps.isEmpty else {
            throw CommandError(
                "no app has campaigns",
                hint: "add links to an app in \(Settings.configurationFile.variable): see docs/links.md")
        }
        return apps.sorted { $0.0.text.description < $1.0.text.description }
    }

    /// - Parameter environment: nil for production, if the app has it.
    func campaign(_ name: String, in environment: AppStoreEnvironment?) throws(CommandError) -> ConfiguredCampaign {
        let apps = try appsWithCampaigns()
        for (id, app, links) in apps {
            guard let campaign = links.campaign(name) else { continue }
            if let environment, !app.environments.contains(environment) {
                throw CommandError(
                    "the app has no environment \(environment.rawValue.printable), so the links would not count",
                    hint: "use one of \(app.environments.map(\.rawValue).sorted().joined(separator: ", "))")
            }
            return ConfiguredCampaign(
                campaign: campaign,
                scope: AppScope(bundleID: id, environment: environment ?? app.firstEnvironment), app: app)
        }
        let names = apps.flatMap { $0.2.campaigns.map(\.name) }
        throw CommandError(
            "the configuration file has no campaign \(name.printable)",
            hint: NearMiss.suggestion(for: name, among: names) ?? "known campaigns: \(names.joined(separator: ", "))")
    }
}
