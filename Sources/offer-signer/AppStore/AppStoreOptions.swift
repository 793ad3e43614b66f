import AppStoreAPI
import ArgumentParser
import FoundationEssentials
import Logging
import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferKeys
import OfferService
import OfferTelemetry
import SubscriberStore
import SubscriberSync

/// The options of commands that query the App Store: keys, database, app and environment.
struct AppStoreOptions: ParsableArguments {
    @OptionGroup var key: KeyOptions
    @Option(Settings.database) var database: String?

    @Option(
        help: ArgumentHelp("The bundle ID of the app (default: the only one configured).", valueName: "id"),
        transform: BundleID.init(option:))
    var bundleID: BundleID?

    @Option(
        help: "The environment: Production or Sandbox (default: Production, if the app has it).",
        transform: AppStoreEnvironment.init(option:))
    var environment: AppStoreEnvironment?

    /// Opens the database and a connection to the App Store for one app, calls `work`, and closes them.
    /// - Parameter withoutStore: true if `work` needs no database, which may not exist yet.
    func withAppStore<Result: Sendable>(
        withoutStore: Bool = false, _ work: @Sendable (AppStoreSync, AppScope) async throws -> Result
    ) async throws -> Result {
        var flags = key.flags
        flags[Settings.database] = database
        let configuration = try key.folder.reader(flags).read()
        let app = try scope(configuration)
        return try await AppStoreAccess.run(configuration, app, withoutStore: withoutStore) { asking, _ in
            try await work(asking, app)
        }
    }

    private func scope(_ configuration: Configuration) throws -> AppScope {
        let (bundleID, app) = try configuration.app(bundleID)
        let environment = environment ?? (app.environments.contains(.production) ? .production : .sandbox)
        guard app.environments.contains(environment) else {
            throw CommandError(
                "the app has no data in \(environment.rawValue)",
                hint: "its environments are \(app.environments.map(\.rawValue).sorted().joined(separator: ", "))")
        }
        return AppScope(bundleID: bundleID, environment: environment)
    }
}

/// A connection to the App Store for one command.
enum AppStoreAccess {
    /// Opens the database and a connection to the App Store, calls `work`, and closes them.
    static func run<Result: Sendable>(
        _ configuration: Configuration, _ app: AppScope, withoutStore: Bool = false,
        _ work: @Sendable (AppStoreSync, (any SubscriberStore)?) async throws -> Result
    ) async throws -> Result {
        guard let location = configuration.store?.location else {
            throw CommandError(
                "no database is configured",
                hint: "set \(Settings.database.variable) or --database, such as sqlite:data/offer-signer.sqlite")
        }
        guard let settings = configuration.appStoreAPI else {
            throw CommandError(
                "this configuration turns off requests to the App Store",
                hint: "set \(Settings.appStoreAPI.variable) to on, or set the URLs of its servers")
        }
        let plan = AvailableKeys(configuration.keys).plan(from: KeyRing())
        guard plan.isComplete else { throw ConfigurationError(problems: plan.problems) }
        let log = Logger(label: "offer-signer") { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = .error
            return handler
        }
        do {
            let store = withoutStore ? nil : try location.open(.latestVersion)
            defer { try? store?.close() }
            return try await AppStoreSync.run(settings, configuration, ring: plan.ring, store: store, log: log) {
                asking in
                try await work(asking, store)
            }
        } catch let error as StoreError {
            throw error.diagnostic
        } catch let error as SyncError {
            throw error.diagnostic
        } catch let error as APIFailure {
            throw SyncError.api(error).diagnostic
        }
    }
}

/// The option for the transaction that a request is about.
struct AppStoreTransactionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The ID of any transaction of the customer, or their app transaction ID.", valueName: "id"),
        transform: TransactionNumber.init(option:))
    var transactionID: TransactionNumber
}

extension TransactionNumber {
    init(option text: String) throws {
        guard let id = try? TransactionID(utf8: Array(text.utf8)), let number = TransactionNumber(id) else {
            throw ValidationError("It must consist of digits.")
        }
        self = number
    }
}
