import AppStoreData
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
import Testing

@testable import AppStoreTestSupport
@testable import OfferConfiguration
@testable import SubscriberSync

/// The service with a configuration file, a database and an audit trail in a temporary folder. The time is day 10 of ``Sample``.
struct DecisionService {
    let folder: TemporaryFolder
    let store: any SubscriberStore
    let current: CurrentStore
    let routes: TestService
    let readiness = Readiness()
    let catalogue: Catalogue
    let pair: SigningKey

    static let issuer = "57246542-96fe-1a63-e053-0824d011072a"

    /// - Parameters:
    ///   - offers: of the product `monthly`.
    ///   - app: further members of the app.
    ///   - rules: the rules of the file.
    init(
        _ offers: String, app: String = "appAppleID: 1234567890", rules: String = "", callers: [Caller] = [],
        userIssuers: [UserIssuer] = [], hasIssuerID: Bool = true, trail: AuditTrail? = nil,
        retentionDeadline: Duration? = nil
    ) throws {
        let yaml = """
            apps:
              - bundleID: com.example.app
                \(app)
                products:
                  - {productID: basic, subscriptionGroupID: "21012345", rank: 1, offers: []}
                  - {productID: monthly, subscriptionGroupID: "21012345", rank: 2, offers: [\(offers)]}
                  - {productID: yearly, subscriptionGroupID: "21012345", offers: []}
            \(rules.isEmpty ? "" : "rules:\n" + rules.split(separator: "\n").map { "  " + $0 }.joined(separator: "\n"))
            """
        try self.init(
            yaml: yaml, callers: callers, userIssuers: userIssuers, hasIssuerID: hasIssuerID, trail: trail,
            retentionDeadline: retentionDeadline)
    }

    /// - Parameter yaml: the configuration file.
    init(
        yaml: String, callers: [Caller] = [], userIssuers: [UserIssuer] = [], hasIssuerID: Bool = true,
        trail: AuditTrail? = nil, retentionDeadline: Duration? = nil
    ) throws {
        folder = try TemporaryFolder()
        let (file, problems) = ConfigurationFile.read(Array(yaml.utf8), name: "file")
        try #require(problems.isEmpty, "\(problems)")
        catalogue = try #require(file.catalogue)
        let location = StoreLocation.sqlite(path: folder.path + "/subscribers.sqlite")
        store = try location.open()
        current = CurrentStore(StoreSettings(location: location), store: store, log: RecordedLog().logger)
        pair = try Fixtures.makeSigningKey()
        let chain = try TestChain.standard.get()
        let receipts = try ReceiptSigner.standard.get().chain
        let roots = try [chain.root, receipts.root].map { try X509Certificate(der: $0) }
        let issuerIDs = hasIssuerID ? IssuerIDs(ofAllApps: try IssuerID(utf8: Array(Self.issuer.utf8))) : IssuerIDs()
        routes = try TestService(
            pair: pair, catalogue: catalogue, issuerIDs: issuerIDs, callers: callers,
            userIssuers: userIssuers, readiness: readiness, trail: trail,
            appStore: AppStoreSettings(roots: TrustedRoots(roots)), store: current, retentionDeadline: retentionDeadline
        )
        setDay(10)
    }

    func setDay(_ day: Double) { routes.wall.withLockedValue { $0 = Sample.day(day) } }

    /// Adds a subscription of account 1 whose month began on day 0.
    func addSubscriber(
        _ original: String = "1000", account: UInt64? = 1, autoRenew: Bool = true, in app: AppScope = Sample.production,
        signed: Double = 1, _ change: (inout Purchase) -> Void = { _ in }
    ) async throws {
        try await store.merge(
            Self.subscriber(original, account: account, autoRenew: autoRenew, signed: signed, change), in: app)
    }

    static func subscriber(
        _ original: String = "1000", account: UInt64? = 1, autoRenew: Bool = true, signed: Double = 1,
        _ change: (inout Purchase) -> Void = { _ in }
    ) -> [SubscriberFact] {
        [
            Sample.transaction(original, of: original) {
                $0.appAccountToken = account.map(Sample.token)
                change(&$0)
            },
            Sample.renewal(of: original, signed: signed) { renewal in
                renewal = Renewal(productID: renewal.productID, autoRenewStatus: autoRenew ? .on : .off)
                renewal.autoRenewProductID = renewal.productID
                renewal.appAccountToken = account.map(Sample.token)
            },
        ]
    }

    /// The member that names account 1, or another one.
    static func token(_ number: UInt64 = 1) -> String { #""appAccountToken":"\#(Sample.token(number).description)""# }

    /// - Parameter members: the members of the body beside `bundleID`.
    func post(_ path: String, _ members: String, token: String? = nil) async -> HTTPResponse {
        await routes.respondLater(
            CustomerService.request("POST", path, #"{"bundleID":"com.example.app",\#(members)}"#, token: token))
    }

    func decide(_ members: String = token(), token: String? = nil) async throws -> Decision {
        Decision(await post("/v1/decisions", members, token: token))
    }

    /// An answer, as a test reads it.
    struct Decision {
        let response: HTTPResponse

        init(_ response: HTTPResponse) { self.response = response }

        var json: [String: Any] { response.json }
        var offers: [[String: Any]] { json["offers"] as? [[String: Any]] ?? [] }
        /// The IDs of the eligible offers, the best first.
        var eligible: [String] { offers.compactMap { $0["offerID"] as? String } }
        /// The IDs of the offers that are signed.
        var signed: [String] {
            offers.filter { $0["signature"] != nil || $0["compactJWS"] != nil }.compactMap { $0["offerID"] as? String }
        }
        /// The codes by offer, without repeats, in the order of the alphabet.
        var refused: [String: [String]] {
            let refused = json["refused"] as? [[String: Any]] ?? []
            return Dictionary(
                uniqueKeysWithValues: refused.map { offer in
                    let reasons = offer["reasons"] as? [[String: Any]] ?? []
                    let codes = reasons.compactMap { $0["code"] as? String }
                    return (offer["offerID"] as? String ?? "", Set(codes).sorted())
                })
        }
    }
}
