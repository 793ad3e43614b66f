import AppStoreStandIn
import AppStoreTestSupport
import Foundation
import NIOConcurrencyHelpers
import OfferConfiguration
import OfferCrypto
import TestSupport

/// A stand-in for the App Store whose customers have lived for two weeks, and what `offer-signer` needs to ask it.
struct AppStoreProcess: Sendable {
    let standIn: AppStoreStandIn
    let folder: TemporaryFolder
    let keys: TemporaryFolder

    /// - Parameter customers: in each environment.
    init(
        customers: Int = 5, performanceTest: PerformanceTest.Settings = PerformanceTest.Settings()
    ) async throws {
        (folder, keys) = (try TemporaryFolder(), try RunningService.makeKeys())
        let start = Int64(Date().timeIntervalSince1970 * 1000)
        let born = NIOLockedValueBox<Int64?>(start - WorldClock().days(14))
        var settings = AppStoreStandIn.Settings {
            born.withLockedValue { $0 } ?? Int64(Date().timeIntervalSince1970 * 1000)
        }
        settings.production.customers = customers
        settings.sandbox.customers = customers
        settings.performanceTest = performanceTest
        settings.keys = [RunningService.keyID: try SigningKey(text: keys.read(RunningService.keyFile))]
        standIn = try await AppStoreStandIn(settings, folder: folder.path)
        born.withLockedValue { $0 = nil }
        await standIn.advance()
        try folder.write(Self.configuration.utf8, to: "offers.yaml")
    }

    /// The key that the service signs with at first.
    var signingKey: SigningKey { get throws { try SigningKey(text: keys.read(RunningService.keyFile)) } }

    private static let configuration = """
        apps:
          - bundleID: com.example.app
            appAppleID: 1234567890
            products:
              - {productID: com.example.app.pro.weekly, offers: [retention_50off_3m]}
        """

    var environment: [String: String] {
        [
            "SUBSCRIPTION_OFFERS_APP_STORE_ROOTS": standIn.dataRootPath,
            "SUBSCRIPTION_OFFERS_APP_STORE_API_URL": standIn.productionURL,
            "SUBSCRIPTION_OFFERS_APP_STORE_SANDBOX_API_URL": standIn.sandboxURL,
            "SUBSCRIPTION_OFFERS_VERIFY_RECEIPT_URL": standIn.productionURL,
            "SUBSCRIPTION_OFFERS_SANDBOX_VERIFY_RECEIPT_URL": standIn.sandboxURL,
            "SUBSCRIPTION_OFFERS_APP_STORE_API_ROOTS": standIn.tls.rootPath,
            "SUBSCRIPTION_OFFERS_ISSUER_ID": Fixtures.issuerText,
            "SUBSCRIPTION_OFFERS_DATABASE": "sqlite:" + folder.path + "/store.sqlite",
            "SUBSCRIPTION_OFFERS_CONFIG": folder.path + "/offers.yaml",
        ]
    }

    /// The environment of a service that believes receipts too, and may ask `verifyReceipt` about them.
    /// - Parameter receipts: the root of what signs receipts, in DER.
    func environment(believing receipts: [UInt8]) throws -> [String: String] {
        let roots = folder.url.appending(path: "roots")
        try FileManager.default.createDirectory(at: roots, withIntermediateDirectories: false)
        try FileManager.default.copyItem(atPath: standIn.dataRootPath, toPath: roots.path + "/data.pem")
        try folder.write(receipts, to: "roots/receipts.cer")
        try folder.write("0123456789abcdef0123456789abcdef".utf8, to: "secret")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder.path + "/secret")
        let secret = "\n    sharedSecret: file:\(folder.path)/secret\n"
        try folder.write((Self.configuration + secret).utf8, to: "offers.yaml")
        return environment.merging(["SUBSCRIPTION_OFFERS_APP_STORE_ROOTS": roots.path]) { $1 }
    }

    /// The same for a shell.
    var exports: String {
        let settings = [
            "SUBSCRIPTION_OFFERS_KEY_ID": RunningService.keyID, "SUBSCRIPTION_OFFERS_KEYS_DIR": keys.path,
        ]
        return environment.merging(settings) { $1 }.map { "export \($0)='\($1)'\n" }.joined()
    }

    func start(_ settings: [String: String] = [:]) throws -> RunningService {
        try RunningService(environment: environment.merging(settings) { $1 }, keys: keys)
    }

    /// Runs `offer-signer`.
    func run(_ arguments: [String], _ settings: [String: String] = [:]) throws -> Command.Outcome {
        let settings = ["SUBSCRIPTION_OFFERS_KEY_ID": RunningService.keyID].merging(settings) { $1 }
        return try Command.runOfferSigner(
            arguments + ["--keys-dir", keys.path], environment: environment.merging(settings) { $1 })
    }

    /// The subscriptions that a running service knows under a transaction.
    func subscriptions(
        of transaction: String, in environment: String = "Production", on service: RunningService
    ) async throws -> [[String: Any]] {
        let body =
            #"{"bundleID":"com.example.app","environment":"\#(environment)","originalTransactionID":"\#(transaction)"}"#
        let response = try await service.post("/v1/customers/lookup", body)
        let customers = response.json["customers"] as? [[String: Any]] ?? []
        return customers.flatMap { $0["subscriptions"] as? [[String: Any]] ?? [] }
    }

    /// Waits until a page contains a text.
    func wait(for text: String, on path: String, of service: RunningService) async throws {
        try await waitUntil { try await service.get(path).text.contains(text) }
    }
}
