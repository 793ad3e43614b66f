import AppStoreConnect
import ArgumentParser
import Logging
import OfferConfiguration
import OfferCore
import OfferEligibility
import SubscriberStore
import SubscriberSync

/// `offer-signer catalogue check`: reports each difference between the configuration file and App Store Connect.
struct CatalogueCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Report each difference between the configuration file and App Store Connect.",
        discussion: """
            Reads the subscriptions, their promotional offers and prices from App Store Connect, and compares them with the \
            configuration file. Exits with status 0 if customers would meet no fault, otherwise 1. Warnings do not count. If \
            there is a database, a sample of its customers shows which territories matter.

              offer-signer catalogue check --config offers.yaml
            """)

    @OptionGroup var folder: KeyFolderOptions

    @Option(
        help: ArgumentHelp("The bundle ID of the app (default: all configured apps).", valueName: "id"),
        transform: BundleID.init(option:))
    var bundleID: BundleID?

    @Flag(help: "Print each finding as a line of JSON.")
    var json = false

    func run() async throws {
        let configuration = try folder.readConfiguration()
        let apps = try CatalogueAccess.apps(of: configuration, bundleID)
        let findings = try await CatalogueAccess.run(CatalogueAccess.settings(of: configuration)) { reader in
            var findings: [CatalogueFinding] = []
            for (bundleID, app) in apps {
                findings += try await CatalogueComparison.findings(bundleID, app, configuration, reader)
            }
            return findings
        }
        for finding in findings { StandardStreams.print(json ? finding.json + "\n" : finding.text) }
        let errors = findings.count { $0.severity == .error }
        guard errors == 0 else { throw ExitCode(1) }
        guard !json else { return }
        StandardStreams.print(
            findings.isEmpty
                ? "ok: the catalogue agrees with App Store Connect\n"
                : "ok: customers would meet none of these differences\n")
    }
}

/// A comparison outside the service.
enum CatalogueComparison {
    static func findings(
        _ bundleID: BundleID, _ app: Catalogue.App, _ configuration: Configuration, _ reader: AppListingReader
    ) async throws -> [CatalogueFinding] {
        let listing = try await reader.read(bundleID, .only(app.offers), wantsRetention: !app.rules.retention.isEmpty)
        return CatalogueCheck(
            bundleID, app, listing: listing, storefronts: await storefronts(of: bundleID, configuration.store),
            receivesNotifications: configuration.store != nil
        ).findings()
    }

    /// - Returns: nil if there is no database, or it cannot be read.
    private static func storefronts(of bundleID: BundleID, _ settings: StoreSettings?) async -> Set<String>? {
        guard let settings, case .exists(settings.location.latestVersion)? = try? settings.location.inspect(),
            let store = try? settings.location.open(.latestVersion)
        else { return nil }
        let current = CurrentStore(settings, store: store, log: Logger(label: "offer-signer"))
        let storefronts = await StorefrontSample.storefronts(of: bundleID, in: current)
        try? store.close()
        return storefronts
    }
}

extension CatalogueFinding {
    /// The finding as two lines of text. Names from App Store Connect may contain anything.
    fileprivate var text: String {
        "\(severity.rawValue): \(subject.printable): \(sentence.printable)\nhint: \(hint.printable)\n"
    }

    /// The finding as a JSON object on one line.
    fileprivate var json: String {
        var writer = JSONWriter()
        writer.member("code", code.rawValue)
        writer.member("severity", severity.rawValue)
        writer.member("app", utf8: app.text.utf8)
        if let product { writer.member("product", product) }
        if let offer { writer.member("offer", offer) }
        if !territories.isEmpty { writer.member("territories", territories) }
        writer.member("sentence", sentence)
        writer.member("hint", hint)
        return String(decoding: writer.finish(), as: UTF8.self)
    }
}
