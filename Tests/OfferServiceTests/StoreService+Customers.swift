import OfferAudit
import OfferCore
import OfferEligibility
import OfferHTTP
import OfferService
import StoreTestSupport
import SubscriberStore

extension StoreService {
    static func customerCatalogue(
        _ ownership: OwnershipPolicy = .first, _ environments: Set<AppStoreEnvironment> = [.production, .sandbox]
    ) -> Catalogue {
        Catalogue(
            apps: [Sample.bundleID: Catalogue.App(environments: environments, offers: [:], ownership: ownership)])
    }

    /// A service for requests about customers.
    static func customers(
        ownership: OwnershipPolicy = .first, environments: Set<AppStoreEnvironment> = [.production, .sandbox],
        callers: [Caller] = [], trail: AuditTrail? = nil
    ) throws -> StoreService {
        try StoreService(
            catalogue: customerCatalogue(ownership, environments), callers: callers, hasIssuerID: false,
            parts: { $0.safeguards.trail = trail })
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
        start: Double = 0, in app: AppScope = Sample.production
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
