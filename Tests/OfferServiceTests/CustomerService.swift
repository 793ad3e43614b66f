import Foundation
import NIOConcurrencyHelpers
import OfferAudit
import OfferCore
import OfferCrypto
import OfferEligibility
import OfferHTTP
import OfferService
import OfferTelemetry
import StoreTestSupport
import SubscriberStore
import TestSupport

@testable import OfferConfiguration
@testable import SubscriberSync

/// The service with a database and an audit trail in a temporary folder. The time is day 10 of ``Sample``.
struct CustomerService {
    let folder: TemporaryFolder
    let store: any SubscriberStore
    let current: CurrentStore
    let routes: TestService

    init(
        ownership: OwnershipPolicy = .first, environments: Set<AppStoreEnvironment> = [.production, .sandbox],
        callers: [Caller] = [], trail: AuditTrail? = nil
    ) throws {
        folder = try TemporaryFolder()
        let location = StoreLocation.sqlite(path: folder.path + "/subscribers.sqlite")
        store = try location.open()
        current = CurrentStore(StoreSettings(location: location), store: store, log: RecordedLog().logger)
        routes = try TestService(
            pair: Fixtures.makeSigningKey(), catalogue: Self.catalogue(ownership, environments), callers: callers,
            trail: trail, store: current)
        routes.wall.withLockedValue { $0 = Sample.day(10) }
    }

    static func catalogue(
        _ ownership: OwnershipPolicy = .first, _ environments: Set<AppStoreEnvironment> = [.production, .sandbox]
    ) -> Catalogue {
        Catalogue(
            apps: [Sample.bundleID: Catalogue.App(environments: environments, offers: [:], ownership: ownership)])
    }

    static func caller(_ scopes: Set<Caller.Scope>, apps: Set<BundleID>? = nil, token: String) throws -> Caller {
        Caller(
            name: "backend", tokenDigest: try SHA256.hash(Array(token.utf8)), scopes: scopes, apps: apps, expiry: nil)
    }

    /// Opens an audit trail in a folder.
    static func trail(in folder: TemporaryFolder) async throws -> AuditTrail? {
        let settings = AuditSettings(
            path: folder.path + "/audit.jsonl", isSynced: true, rotatesAtBytes: nil, key: Secret("0123456789abcdef"),
            chain: .sha256, addresses: .off)
        return try await AuditTrail.open(
            settings, now: { Sample.day(10) }, readiness: Readiness(), metrics: ServiceMetrics().audit,
            log: RecordedLog().logger)
    }

    static func request(_ method: String, _ path: String, _ body: String, token: String? = nil) -> HTTPRequest {
        HTTPRequest(
            method: method, target: path, contentType: "application/json", authorization: token.map { "Bearer \($0)" },
            body: Array(body.utf8))
    }

    /// - Parameter members: the members of the body beside `bundleID`.
    func send(
        _ method: String, _ path: String, _ members: String, app: String = "com.example.app", token: String? = nil
    ) async -> HTTPResponse {
        let body = #"{"bundleID":"\#(app)",\#(members)}"#
        return await routes.respondLater(Self.request(method, path, body, token: token))
    }

    func lookUp(_ members: String) async -> [[String: Any]] {
        await send("POST", "/v1/customers/lookup", members).json["customers"] as? [[String: Any]] ?? []
    }

    func setFacts(_ members: String) async -> HTTPResponse { await send("PUT", "/v1/customers/facts", members) }

    func link(_ members: String) async -> HTTPResponse { await send("PUT", "/v1/customers/links", members) }

    func erase(_ members: String) async -> HTTPResponse { await send("DELETE", "/v1/customers", members) }

    /// The subscriptions of a customer in the first environment.
    func subscriptions(_ members: String) async -> [String] {
        let subscriptions = await lookUp(members).first?["subscriptions"] as? [[String: Any]] ?? []
        return subscriptions.compactMap { $0["originalTransactionID"] as? String }
    }

    /// Adds a purchase of a month that began on day `start`.
    func add(
        _ id: String, of original: String? = nil, account: UInt64? = nil, appleAccount: String? = nil,
        start: Double = 0,
        in app: AppScope = Sample.production
    ) async throws {
        let fact = Sample.transaction(id, of: original ?? id, start, start + 30) {
            $0.appAccountToken = account.map(Sample.token)
            $0.appTransactionID = appleAccount.map(Sample.id)
        }
        try await store.merge([fact], in: app)
    }

    /// Adds a customer about whom every member of the answer says something.
    func addRichCustomer() async throws {
        let offer = AppliedOffer(type: .promotional, identifier: "half", discountType: .payAsYouGo)
        let product = try ProductID(utf8: Array("monthly".utf8))
        var renewal = Renewal(productID: product, autoRenewStatus: .off)
        renewal.autoRenewProductID = product
        renewal.offer = AppliedOffer(type: .winBack, identifier: "back")
        let facts = [
            Sample.transaction("1", of: "1", -60, -30) {
                $0.appAccountToken = Sample.token(1)
                $0.appTransactionID = Sample.id("A")
                $0.revocation = Revocation(
                    date: Sample.day(-40), reason: .appIssue, type: .fullRefund, percentage: 100_000)
            },
            Sample.transaction("2", of: "1", -30, 0) { $0.offer = offer },
            Sample.transaction("3", of: "1", 0, 30),
            Sample.fact(.renewalInfo(renewal), "1", of: "1", signed: 1),
            Sample.transaction("9", of: "9", -90, -60) { $0.subscriptionGroupID = "2" },
        ]
        try await store.merge(facts, in: Sample.production)
        try await add("1", account: 1, in: Sample.sandbox)
    }
}
