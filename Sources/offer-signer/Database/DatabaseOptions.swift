import ArgumentParser
import FoundationEssentials
import OfferConfiguration
import OfferCore
import OfferService
import SubscriberStore

/// The options that choose the database.
struct DatabaseOptions: ParsableArguments {
    @Option(Settings.database) var database: String?
    @OptionGroup var folder: KeyFolderOptions

    /// Reads the configuration, which need not choose a key.
    func configuration() throws -> Configuration { try folder.reader(flags).read() }

    var flags: Configuration.Flags {
        var flags = folder.verifyingFlags
        flags[Settings.database] = database
        return flags
    }

    /// Inspects the database without creating or changing it.
    func inspect() throws -> StoreInspection {
        let location = try location()
        do { return try location.inspect() } catch { throw error.diagnostic }
    }

    /// Returns the version to which this program migrates a database.
    func latestVersion() throws -> Int { try location().latestVersion }

    private func location() throws -> StoreLocation {
        guard let location = try configuration().store?.location else {
            throw CommandError(
                "no database is configured",
                hint: "set \(Settings.database.variable) or --database, such as sqlite:data/offer-signer.sqlite")
        }
        return location
    }

    /// Opens the database, calls `work`, and closes the database.
    func withStore<Result>(
        _ opening: StoreOpening = .latestVersion, _ work: (any SubscriberStore) async throws -> Result
    ) async throws -> Result {
        let location = try location()
        do {
            let store = try location.open(opening)
            let result: Result
            do { result = try await work(store) } catch {
                try? store.close()
                throw error
            }
            try store.close()
            return result
        } catch let error as StoreError {
            throw error.diagnostic
        }
    }
}

/// Progress on standard error: at most one line a second, to show that long work continues.
struct Progress: ~Copyable {
    private var next = ContinuousClock.now + .seconds(1)

    mutating func report(_ text: @autoclosure () -> String) {
        guard ContinuousClock.now >= next else { return }
        next = .now + .seconds(1)
        StandardStreams.printError("\(text())\n")
    }
}
