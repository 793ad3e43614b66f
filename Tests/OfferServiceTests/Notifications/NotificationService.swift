import AppStoreData
import Logging
import OfferCore
import OfferCrypto
import OfferEligibility
import OfferHTTP
import OfferService
import SubscriberStore
import TestSupport

@testable import AppStoreTestSupport
@testable import OfferConfiguration
@testable import SubscriberSync

/// The service with one app, a chain made for tests, and a SQLite store in a folder of its own.
struct NotificationService {
    let service: TestService
    let store: SQLiteStore
    let chain: TestChain
    let folder: TemporaryFolder
    let catalogue: Catalogue
    let appStore: AppStoreSettings

    static let bundleID = try? BundleID(utf8: Array("com.example.app".utf8))

    init(
        receivers: [String] = [], sharedSecret: String? = nil, limits: Limits = Limits(),
        proxies: TrustedProxies = TrustedProxies(),
        ocsp: OCSPTransport? = nil, chain: TestChain? = nil, isOpen: Bool = true
    ) throws {
        let chain = try chain ?? TestChain.standard.get()
        folder = try TemporaryFolder()
        let settings = SQLiteSettings(path: folder.path + "/store.sqlite", lockTimeout: .milliseconds(50))
        store = try SQLiteStore(settings)
        let app = Catalogue.App(
            appAppleID: 1_234_567_890, offers: [:],
            notifications: AppNotifications(receivers: receivers, sharedSecret: sharedSecret.map { Secret($0) }))
        catalogue = Catalogue(apps: [try BundleID(utf8: Array("com.example.app".utf8)): app])
        appStore = AppStoreSettings(
            roots: TrustedRoots([
                try X509Certificate(der: chain.root),
                try X509Certificate(der: ReceiptSigner.standard.get().chain.root),
            ]))
        let current = CurrentStore(
            StoreSettings(location: .sqlite(path: settings.path)), store: isOpen ? store : nil,
            log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        service = try TestService(
            pair: Fixtures.makeSigningKey(),
            catalogue: catalogue, limits: limits, proxies: proxies, appStore: appStore, ocsp: ocsp, store: current)
        self.chain = chain
    }

    func post(_ notification: TestNotification) async throws -> HTTPResponse {
        await post(try notification.body(signedBy: chain))
    }

    func post(_ body: String, peer: String? = nil) async -> HTTPResponse {
        await service.postLater("/v1/app-store-notifications", body, peer: peer)
    }

    /// The customers that the store knows under the subscription of the sample payloads.
    func customers() async throws -> [StoredCustomer] {
        try await store.customers(
            known: .originalTransactionID(TransactionID(utf8: Array("2000000123456789".utf8))),
            bundleID: BundleID(utf8: Array("com.example.app".utf8)), environment: nil)
    }

    var outcomes: [String: Double] {
        let scrape = service.scrape()
        return Dictionary(
            uniqueKeysWithValues: ["stored", "known", "unusable", "refused", "failed"].map { outcome in
                (outcome, scrape[#"offer_signer_notifications_total{outcome="\#(outcome)"}"#] ?? -1)
            }
        ).filter { $0.value != 0 }
    }
}
