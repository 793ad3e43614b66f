import AppStoreConnect
import ArgumentParser
import OfferConfiguration
import OfferCore
import OfferEligibility

/// `offer-signer catalogue pull`: prints what App Store Connect has, in the form of the configuration file.
struct CataloguePullCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pull", abstract: "Print what App Store Connect has, in the form of the configuration file.",
        discussion: """
            Prints YAML with every product and promotional offer, to merge into the configuration file or to compare with it. \
            It never changes a file. The offers have no rules yet, so anyone who may request them would get them.

              offer-signer catalogue pull --bundle-id com.example.app
            """)

    @OptionGroup var folder: KeyFolderOptions

    @Option(
        help: ArgumentHelp("The bundle ID of the app (default: all configured apps).", valueName: "id"),
        transform: BundleID.init(option:))
    var bundleID: BundleID?

    func run() async throws {
        let configuration = try folder.readConfiguration()
        let bundleIDs = try bundleID.map { [$0] } ?? CatalogueAccess.apps(of: configuration, nil).map(\.bundleID)
        let text = try await CatalogueAccess.run(CatalogueAccess.settings(of: configuration)) { reader in
            var text = "apps:\n"
            for bundleID in bundleIDs {
                text += try await reader.read(bundleID, .all, wantsRetention: true).yaml(of: bundleID)
            }
            return text
        }
        StandardStreams.print(text)
    }
}
