import AppStoreData
import OfferAudit
import OfferCore
import OfferCrypto
import OfferEligibility
import OfferHTTP
import OfferTelemetry
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@testable import AppStoreTestSupport
@testable import OfferConfiguration
@testable import OfferService
@testable import SubscriberSync

/// The service with a database in a temporary folder, which trusts a chain made for tests and its signer of receipts.
/// The time is day 10 of ``Sample``.
struct StoreService {
    let folder: TemporaryFolder
    let store: any SQLStore
    let current: CurrentStore
    let routes: TestService
    let catalogue: Catalogue
    let appStore: AppStoreSettings
    let chain: TestChain
    let pair: SigningKey

    /// - Parameters:
    ///   - chain: signs the App Store's data; nil for the standard one.
    ///   - location: of the database; nil for a new one in SQLite.
    ///   - isOpen: false for a service whose database is not open.
    init(
        catalogue: Catalogue, callers: [Caller] = [], userIssuers: [UserIssuer] = [], limits: Limits = Limits(),
        webOrigins: Set<WebOrigin> = [], hasIssuerID: Bool = true, ocsp: OCSPTransport? = nil, chain: TestChain? = nil,
        location: StoreLocation? = nil, isOpen: Bool = true, parts: (inout Application.Dependencies) -> Void = { _ in }
    ) throws {
        self.catalogue = catalogue
        self.chain = try chain ?? TestChain.standard.get()
        folder = try TemporaryFolder()
        let location = location ?? .sqlite(path: folder.path + "/subscribers.sqlite")
        store = try #require(location.open() as? any SQLStore)
        current = CurrentStore(
            StoreSettings(location: location), store: isOpen ? store : nil, log: RecordedLog().logger)
        pair = try Fixtures.makeSigningKey()
        appStore = try .trusting(self.chain)
        routes = try TestService(
            pair: pair, catalogue: catalogue,
            issuerIDs: hasIssuerID ? IssuerIDs(ofAllApps: Fixtures.issuerID()) : IssuerIDs(), callers: callers,
            userIssuers: userIssuers, limits: limits, webOrigins: webOrigins, appStore: appStore, ocsp: ocsp,
            store: current, parts: parts)
        setDay(10)
    }

    /// - Parameter yaml: the configuration file.
    init(
        yaml: String, callers: [Caller] = [], userIssuers: [UserIssuer] = [], webOrigins: Set<WebOrigin> = [],
        hasIssuerID: Bool = true, location: StoreLocation? = nil,
        parts: (inout Application.Dependencies) -> Void = { _ in }
    ) throws {
        let (file, problems) = ConfigurationFile.read(Array(yaml.utf8), name: "file")
        try #require(problems.isEmpty, "\(problems)")
        try self.init(
            catalogue: #require(file.catalogue), callers: callers, userIssuers: userIssuers, webOrigins: webOrigins,
            hasIssuerID: hasIssuerID, location: location, parts: parts)
    }

    /// - Parameters:
    ///   - offers: of the product `monthly`.
    ///   - app: further members of the app.
    ///   - rules: the rules of the file.
    init(
        _ offers: String, app: String = "appAppleID: 1234567890", rules: String = "", callers: [Caller] = [],
        userIssuers: [UserIssuer] = [], webOrigins: Set<WebOrigin> = [], hasIssuerID: Bool = true,
        location: StoreLocation? = nil, parts: (inout Application.Dependencies) -> Void = { _ in }
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
            yaml: yaml, callers: callers, userIssuers: userIssuers, webOrigins: webOrigins, hasIssuerID: hasIssuerID,
            location: location, parts: parts)
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

    func setDay(_ day: Double) { routes.setTime(Sample.day(day)) }

    /// - Parameter members: the members of the body except `bundleID`.
    func send(
        _ method: String, _ path: String, _ members: String, app: String = "com.example.app", token: String? = nil
    ) async -> HTTPResponse {
        await routes.respondLater(.json(method, path, #"{"bundleID":"\#(app)",\#(members)}"#, token: token))
    }

    func post(_ path: String, _ members: String, token: String? = nil) async -> HTTPResponse {
        await send("POST", path, members, token: token)
    }

    /// The authorisations of a customer, the oldest first.
    func authorisations(
        of holders: [CustomerIdentifier] = [Sample.account(1)], in app: AppScope = Sample.production
    ) async throws -> [Authorisation] {
        try await store.ledgerEntries(of: holders, in: app).authorisations
    }
}

extension AppStoreSettings {
    /// Settings that trust a chain made for tests and the standard signer of receipts.
    static func trusting(_ chain: TestChain) throws -> AppStoreSettings {
        let roots = try [chain.root, ReceiptSigner.standard.get().chain.root].map { try X509Certificate(der: $0) }
        return AppStoreSettings(roots: TrustedRoots(roots))
    }
}
