import AppStoreData
import OfferCore
import OfferEligibility
import OfferHTTP
import OfferService
import StoreTestSupport
import SubscriberStore
import SubscriberSync
import TestSupport

@testable import AppStoreTestSupport

extension StoreService {
    /// A service for notifications, at the time of ``Fixtures``.
    static func notifications(
        sharedSecret: String? = nil, receivers: [String] = [], limits: Limits = Limits(), ocsp: OCSPTransport? = nil,
        chain: TestChain? = nil, others: [BundleID] = [],
        isOpen: Bool = true, refresher: RefreshQueue? = nil
    ) throws -> StoreService {
        let app = Catalogue.App(
            appAppleID: 1_234_567_890, offers: [:],
            notifications: AppNotifications(receivers: receivers, sharedSecret: sharedSecret.map { Secret($0) }))
        var apps = [Sample.bundleID: app]
        for (place, other) in others.enumerated() {
            apps[other] = Catalogue.App(appAppleID: Int64(place) + 1, offers: [:])
        }
        let service = try StoreService(
            catalogue: Catalogue(apps: apps), limits: limits, hasIssuerID: false, ocsp: ocsp,
            chain: chain, isOpen: isOpen
        ) { $0.subscribers.refresher = refresher }
        service.routes.setTime(Fixtures.timestamp)
        return service
    }

    func notify(_ notification: TestNotification) async throws -> HTTPResponse {
        await notify(try notification.body(signedBy: chain))
    }

    func notify(_ body: String, peer: String? = nil) async -> HTTPResponse {
        await routes.postLater("/v1/app-store-notifications", body, peer: peer)
    }

    /// The customers that the store knows under the subscription of the sample payloads.
    func sampleCustomers() async throws -> [StoredCustomer] {
        try await store.customers(
            known: .originalTransactionID(Sample.id("2000000123456789")), bundleID: Sample.bundleID, environment: nil)
    }

    /// The outcomes of notifications that were counted.
    var outcomes: [String: Double] {
        let scrape = routes.scrape()
        return Dictionary(
            uniqueKeysWithValues: ["stored", "known", "unusable", "refused", "failed"].map { outcome in
                (outcome, scrape[#"offer_signer_notifications_total{outcome="\#(outcome)"}"#] ?? -1)
            }
        ).filter { $0.value != 0 }
    }
}
