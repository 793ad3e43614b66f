import AppStoreAPI
import AppStoreConnect
import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferService
import OutgoingHTTP

/// A connection to App Store Connect for one command.
enum CatalogueAccess {
    /// Connects, calls `work` with a reader, and closes the connection.
    /// - Parameter patience: the longest wait for Apple's limit.
    static func run<Result: Sendable>(
        _ settings: AppStoreConnectSettings, patience: Duration = .hours(1),
        _ work: (AppListingReader) async throws -> Result
    ) async throws -> Result {
        let transport = try settings.makeTransport()
        let now = SystemInputs.system.now
        let client = AppStoreConnectClient(
            host: settings.host, key: settings.key, transport: transport, pacing: Pacing(now: now), patience: patience,
            onWait: { time in
                StandardStreams.printError(
                    "note: waiting until \(String(decoding: time.iso8601, as: UTF8.self)) for the limit of App Store Connect\n"
                )
            })
        let result: Swift.Result<Result, any Error>
        do { result = .success(try await work(AppListingReader(client: client, now: now))) } catch {
            result = .failure(error)
        }
        await transport.close()
        do { return try result.get() } catch let failure as AppStoreConnectFailure { throw failure.diagnostic }
    }

    /// - Throws: an error if the configuration has no key for App Store Connect.
    static func settings(of configuration: Configuration) throws -> AppStoreConnectSettings {
        guard let settings = configuration.appStoreConnect else {
            throw CommandError(
                "no key for App Store Connect is configured",
                hint: "create one as docs/catalogue.md says, and set \(Settings.appStoreConnectKeyFile.variable)")
        }
        return settings
    }

    /// Returns the configured apps that a command is about, by name.
    /// - Parameter bundleID: nil for all.
    static func apps(
        of configuration: Configuration, _ bundleID: BundleID?
    ) throws -> [(bundleID: BundleID, app: Catalogue.App)] {
        let apps = (configuration.catalogue?.apps ?? [:]).filter { bundleID == nil || $0.key == bundleID }
            .sorted { $0.key.text.description < $1.key.text.description }
        guard !apps.isEmpty else {
            throw CommandError(
                bundleID == nil ? "no app is configured" : "the configuration file has no such app",
                hint: "name your apps in \(Settings.configurationFile.variable)")
        }
        return apps.map { ($0.key, $0.value) }
    }
}
