import AppStoreStandIn
import AppStoreTestSupport
import ArgumentParser
import Foundation
import OfferCrypto
import TestSupport
import UnixSignals

/// `app-store-stand-in play`: plays the App Store on this machine. It is what the program does if nothing else is said.
struct StandInCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "play",
        abstract:
            "Play the App Store on this machine: customers, the App Store Server API over TLS, and notifications.",
        discussion: """
            Generates customers of the app com.example.app (Apple ID 1234567890) who buy, renew, cancel, upgrade and get \
            refunds, in production and in the sandbox. Answers the App Store Server API for them, and posts notifications. \
            A short month lets you watch a year in minutes.

            What it signs is believed only where its root is trusted. It prints the settings that make offer-signer do so:

              scripts/app-store-stand-in --month 300 --notifications http://127.0.0.1:8080/v1/app-store-notifications

            Runs until it gets SIGINT or SIGTERM.
            """
    )

    @Option(help: ArgumentHelp("The folder for its certificates, made if missing.", valueName: "folder"))
    var folder = ".build/app-store-stand-in"

    @Option(
        help: ArgumentHelp(
            "The folder of the keys that it accepts: In-App Purchase keys named SubscriptionKey_ID.p8.",
            valueName: "folder"))
    var keysDir = "keys"

    @Option(help: ArgumentHelp("The port of the production API; 0 for any.", valueName: "port"))
    var port = 8443

    @Option(help: ArgumentHelp("The port of the sandbox API; 0 for any.", valueName: "port"))
    var sandboxPort = 8444

    @Option(help: ArgumentHelp("How many customers production has. The sandbox has a tenth.", valueName: "count"))
    var customers = 100

    @Option(help: ArgumentHelp("How many seconds a month lasts.", valueName: "seconds"))
    var month = 30 * 86_400

    @Option(help: ArgumentHelp("Another number makes other customers.", valueName: "number"))
    var seed: UInt64 = 1

    @Option(help: ArgumentHelp("The URL that notifications are posted to; none without it.", valueName: "url"))
    var notifications: String?

    @Option(help: ArgumentHelp("The share of notifications that get lost, from 0 to 1.", valueName: "share"))
    var lost = 0.0

    @Option(help: ArgumentHelp("The share of notifications that are posted twice, from 0 to 1.", valueName: "share"))
    var repeated = 0.0

    @Option(help: ArgumentHelp("How long each answer of the API takes, in seconds.", valueName: "seconds"))
    var delay = 0

    @Option(
        help: ArgumentHelp(
            "A promotional offer that App Store Connect has; it is played if there is any. Its API accepts every token.",
            valueName: "product/offer"))
    var connectOffer: [String] = []

    @Option(help: ArgumentHelp("The number of territories with prices in App Store Connect.", valueName: "count"))
    var connectTerritories = 1

    @Option(
        help: ArgumentHelp(
            "How long each answer of App Store Connect takes, in milliseconds.", valueName: "milliseconds"))
    var connectDelay = 0

    @Flag(help: "Never answer a request of the API.")
    var silent = false

    func validate() throws {
        guard (0...1).contains(lost), (0...1).contains(repeated) else {
            throw ValidationError("a share is a number from 0 to 1")
        }
        guard customers > 0, month > 0, delay >= 0 else {
            throw ValidationError("--customers and --month must be positive, and --delay not negative")
        }
        guard [port, sandboxPort].allSatisfy((0...65_535).contains) else {
            throw ValidationError("a port is a number from 0 to 65535")
        }
    }

    func run() async throws {
        let path = URL(filePath: folder).absoluteURL.path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let standIn = try await AppStoreStandIn(settings(), folder: path)
        FileHandle.standardOutput.write(Data((Self.lines(standIn, issuerID: Self.issuerID) + "\n").utf8))
        let connect = try await appStoreConnect(path)
        if let connect {
            FileHandle.standardOutput.write(Data("SUBSCRIPTION_OFFERS_APP_STORE_CONNECT_URL=\(connect.url)\n".utf8))
        }
        if silent { standIn.faults.add(.silence, count: .max) }
        if delay > 0 { standIn.faults.add(.delay(delay * 1000), count: .max) }
        let ticks = Task {
            while !Task.isCancelled {
                await standIn.advance()
                try await Task.sleep(for: .milliseconds(500))
            }
        }
        for await _ in await UnixSignalsSequence(trapping: .sigterm, .sigint) { break }
        ticks.cancel()
        await standIn.stop()
        await connect?.stop()
    }

    /// - Returns: nil if App Store Connect is not played.
    private func appStoreConnect(_ folder: String) async throws -> AppStoreConnectStandIn? {
        guard !connectOffer.isEmpty else { return nil }
        var products: [String: ConnectCatalogue.Product] = [:]
        for text in connectOffer {
            let parts = text.split(separator: "/").map(String.init)
            guard parts.count == 2 else { throw ValidationError("--connect-offer is a product, a slash and an offer") }
            var product =
                products[parts[0]]
                ?? ConnectCatalogue.Product(parts[0], period: "ONE_WEEK", level: 1, name: "Pro", prices: prices("3.99"))
            product.offers.append(
                ConnectCatalogue.Offer(parts[1], "PAY_AS_YOU_GO", "ONE_WEEK", 3, prices: prices("1.99")))
            products[parts[0]] = product
        }
        let group = ConnectCatalogue.Group(
            "21012345", "Pro", products: products.sorted { $0.key < $1.key }.map(\.value))
        let standIn = try await AppStoreConnectStandIn(ConnectCatalogue(groups: [group]), folder: folder)
        standIn.setDelay(milliseconds: connectDelay)
        return standIn
    }

    /// A price in the United States and in as many invented territories as wanted.
    private func prices(_ amount: String) -> [ConnectCatalogue.Price] {
        let others = (1..<max(1, connectTerritories)).map { ConnectCatalogue.Price("Z\($0 + 100)", amount) }
        return [ConnectCatalogue.Price("USA", amount)] + others
    }

    private static let issuerID = "57246542-96fe-1a63-e053-0824d011072a"

    private func settings() throws -> AppStoreStandIn.Settings {
        var settings = AppStoreStandIn.Settings { Int64(Date().timeIntervalSince1970 * 1000) }
        let clock = WorldClock(month: Int64(month) * 1000)
        (settings.production.seed, settings.sandbox.seed) = (seed, seed &+ 1)
        (settings.production.customers, settings.sandbox.customers) = (customers, max(1, customers / 10))
        (settings.production.clock, settings.sandbox.clock) = (clock, clock)
        (settings.port, settings.sandboxPort) = (port, sandboxPort)
        settings.issuerID = Self.issuerID
        settings.keys = try keys()
        settings.posting.receiver = notifications.map { .url($0) }
        (settings.posting.lost, settings.posting.repeated) = (lost, repeated)
        return settings
    }

    private func keys() throws -> [String: SigningKey] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: keysDir)) ?? []
        var keys: [String: SigningKey] = [:]
        for name in names where name.hasPrefix("SubscriptionKey_") && name.hasSuffix(".p8") {
            let id = String(name.dropFirst("SubscriptionKey_".count).dropLast(".p8".count))
            keys[id] = try SigningKey(text: [UInt8](Data(contentsOf: URL(filePath: keysDir + "/" + name))))
        }
        guard !keys.isEmpty else {
            throw ValidationError(
                "there is no SubscriptionKey_ID.p8 in \(keysDir); make one with: offer-signer keys generate")
        }
        return keys
    }

    /// The settings of `offer-signer` that make it believe and ask this stand-in.
    private static func lines(_ standIn: AppStoreStandIn, issuerID: String) -> String {
        let settings = [
            ("APP_STORE_ROOTS", standIn.dataRootPath), ("APP_STORE_API_URL", standIn.productionURL),
            ("APP_STORE_SANDBOX_API_URL", standIn.sandboxURL), ("VERIFY_RECEIPT_URL", standIn.productionURL),
            ("SANDBOX_VERIFY_RECEIPT_URL", standIn.sandboxURL), ("APP_STORE_API_ROOTS", standIn.tls.rootPath),
            ("ISSUER_ID", issuerID),
        ]
        return settings.map { "SUBSCRIPTION_OFFERS_\($0)=\($1)" }.joined(separator: "\n")
    }
}
