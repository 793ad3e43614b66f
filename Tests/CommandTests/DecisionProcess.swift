import Foundation
import NIOConcurrencyHelpers
import OfferCore
import OfferEligibility
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

/// What processes need that decide about subscribers all of whom the rule allows an offer, and what their ledger says.
final class DecisionProcess: Sendable {
    let customers: Int
    let folder: TemporaryFolder
    /// Holds the signing key.
    let keys: TemporaryFolder
    private let location: StoreLocation
    private let serviceDatabase: String

    private static let app = AppScope(bundleID: Sample.bundleID, environment: .production)

    /// - Parameters:
    ///   - customers: with an active subscription each.
    ///   - limits: of the offer, in YAML.
    ///   - location: of the database; nil for a new one in SQLite.
    ///   - serviceDatabase: the setting of the processes, if they reach the database in another way than the test does.
    ///   - settings: further lines about the app, in YAML.
    ///   - condition: of the offer's rule, besides an active subscription.
    init(
        customers: Int, limits: String, in location: StoreLocation? = nil, serviceDatabase: String? = nil,
        settings: String = "", condition: String = "everSubscribed: true"
    ) async throws {
        self.customers = customers
        (folder, keys) = (try TemporaryFolder(), try RunningService.makeKeys())
        self.location = location ?? .sqlite(path: folder.path + "/store.sqlite")
        self.serviceDatabase =
            switch self.location {
            case .sqlite(let path): "sqlite:" + path
            case .postgreSQL(let url): serviceDatabase ?? url
            }
        try folder.write(
            """
            apps:
              - bundleID: com.example.app
                appAppleID: 1234567890
                \(settings)
                products:
                  - productID: monthly
                    subscriptionGroupID: "21012345"
                    offers:
                      - plain
                      - {offerID: half, rule: {all: [{subscription: {status: active}}, {\(condition)}]}, limits: \(limits)}
            """.utf8, to: "config.yaml")
        let start = Timestamp(.now) - .hours(5 * 24)
        let facts = (1...customers).flatMap { number in
            Self.facts("\(500_000 + number)", of: UInt64(number), from: start, to: start + .hours(30 * 24))
        }
        try await withStore { store in
            for start in stride(from: 0, to: facts.count, by: 1000) {
                try await store.merge(Array(facts[start..<min(start + 1000, facts.count)]), in: Self.app)
            }
        }
    }

    /// What the App Store has said of a subscription that renews.
    static func facts(
        _ original: String, of customer: UInt64, from start: Timestamp, to end: Timestamp
    ) -> [SubscriberFact] {
        let token = Sample.token(customer)
        let transaction = Sample.transaction(original, of: original) { purchase in
            var moved = Purchase(productID: purchase.productID, purchaseDate: start)
            moved.type = purchase.type
            moved.subscriptionGroupID = purchase.subscriptionGroupID
            moved.expiresDate = end
            moved.ownership = .purchased
            moved.reason = .purchase
            moved.price = 9990
            moved.appAccountToken = token
            moved.appTransactionID = Sample.id("7\(original)")
            purchase = moved
        }
        let signed = Double(start.milliseconds - Sample.day(0).milliseconds) / 86_400_000
        return [transaction, Sample.renewal(of: original, signed: signed) { $0.appAccountToken = token }]
    }

    func withStore<Result>(_ work: (any SubscriberStore) async throws -> Result) async throws -> Result {
        let store = try location.open()
        let result = try await work(store)
        try store.close()
        return result
    }

    /// - Parameter program: another build of `offer-signer`.
    func start(_ environment: [String: String] = [:], program: String = Command.offerSigner) throws -> RunningService {
        let common = [
            "SUBSCRIPTION_OFFERS_DATABASE": serviceDatabase,
            "SUBSCRIPTION_OFFERS_CONFIG": folder.path + "/config.yaml",
            "SUBSCRIPTION_OFFERS_ALLOW_ANYONE": "true",
            // With it, each answer could have both forms. Under a cap, it must have one.
            "SUBSCRIPTION_OFFERS_ISSUER_ID": Fixtures.issuerText,
            "SUBSCRIPTION_OFFERS_APP_STORE_API": "off",
        ]
        return try RunningService(
            environment: common.merging(environment) { $1 }.filter { !$0.value.isEmpty }, keys: keys, program: program)
    }

    /// Asks for a customer's best offer.
    /// - Parameters:
    ///   - receive: gets each nonce in the answer.
    ///   - note: gets the status and the text of every answer.
    ///   - key: the `Idempotency-Key`.
    /// - Returns: false if the connection is gone.
    func ask(
        _ customer: UInt64, over connection: inout Connection, key: String? = nil, _ receive: (String) -> Void,
        noting note: (Int, String) -> Void = { _, _ in }
    ) async throws -> Bool {
        let response = try? await connection.post(
            "/v1/decisions", json: Self.body(customer), headers: key.map { "Idempotency-Key: \($0)\r\n" } ?? "")
        guard let response else { return false }
        note(response.status, response.text)
        // While the service starts, under its limit for waiting requests, or without its database.
        if response.status == 503 { return true }
        #expect(response.status == 200, "\(response.text)")
        let offers = response.json["offers"] as? [[String: Any]] ?? []
        guard let offer = offers.first(where: { $0["offerID"] as? String == "half" }) else { return true }
        let v1 = (offer["signature"] as? [String: Any])?["nonce"] as? String
        for nonce in [v1, (offer["compactJWS"] as? String).flatMap(Self.nonce)].compactMap(\.self) { receive(nonce) }
        return true
    }

    /// Asks like ``ask(_:over:key:_:noting:)``, and does not wait for the answer.
    func askWithoutReading(_ customer: UInt64, over connection: inout Connection, key: String) async throws {
        let body = Self.body(customer)
        try await connection.send(
            "POST /v1/decisions HTTP/1.1\r\nHost: localhost\r\nIdempotency-Key: \(key)\r\n"
                + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
    }

    private static func body(_ customer: UInt64) -> String {
        #"{"bundleID":"com.example.app","appAccountToken":"\#(Sample.token(customer).description)"}"#
    }

    private static func nonce(ofJWS text: String) -> String? {
        let parts = text.split(separator: ".")
        guard parts.count == 3 else { return nil }
        let padded = parts[1].replacing("-", with: "+").replacing("_", with: "/")
            .padding(toLength: (parts[1].count + 3) / 4 * 4, withPad: "=", startingAt: 0)
        let payload = Data(base64Encoded: padded).flatMap { try? JSONSerialization.jsonObject(with: $0) }
        return (payload as? [String: Any])?["nonce"] as? String
    }

    // MARK: The ledger

    /// The exposures in the database.
    func exposures() async throws -> [Exposure] { try await withStore { store in try await store.exposures() } }

    func authorisations() async throws -> [AuthorisationEntry] {
        try await withStore { store in
            let found = NIOLockedValueBox<[AuthorisationEntry]>([])
            try await store.forEachRecord { record throws(StoreError) in
                if case .authorisation(_, let entry) = record { found.withLockedValue { $0.append(entry) } }
            }
            return found.withLockedValue { $0 }
        }
    }

    func reservedNonces() async throws -> Set<String> { try await Set(authorisations().map { "\($0.id)" }) }

    /// Each customer has at most one, so authorisations and slots are as many.
    func outstandingSlots() async throws -> Int {
        try await authorisations().count { $0.authorisation.isOutstanding(at: Timestamp(.now)) }
    }

    /// Whether every customer could get a signature some hours later.
    func isFree(after hours: Int) async throws -> Bool {
        try await withStore { store in
            let at = Timestamp(.now) + .hours(hours)
            let offer = LedgerRequest.Offer(
                productID: try ProductID(utf8: Array("monthly".utf8)), offerID: try OfferID(utf8: Array("half".utf8)),
                limits: OfferLimits(perCustomer: .init(count: 1), total: 1), nonces: [], expiresAt: at)
            let request = LedgerRequest(
                app: Self.app, holders: [Sample.account(1)], offers: [offer], reserving: .nothing, at: at)
            return try await store.reserve(request) == [.allowed]
        }
    }
}

extension SubscriberStore {
    /// All exposures, of every app.
    func exposures() async throws -> [Exposure] {
        let found = NIOLockedValueBox<[Exposure]>([])
        try await forEachRecord { record throws(StoreError) in
            if case .exposure(_, let exposure) = record { found.withLockedValue { $0.append(exposure) } }
        }
        return found.withLockedValue { $0 }
    }
}
