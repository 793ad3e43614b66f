import ArgumentParser

/// `offer-signer catalogue`: compares the configured catalogue with App Store Connect.
struct CatalogueCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "catalogue", abstract: "Compare the catalogue with App Store Connect.",
        discussion:
            "Needs a key for the App Store Connect API. The commands only read; docs/catalogue.md explains them.",
        subcommands: [CatalogueCheckCommand.self, CataloguePullCommand.self])
}
