import Foundation
import NIOConcurrencyHelpers
import OfferCore
import OfferCrypto
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

/// Races for the last redemption against a service that is killed in between.
@Suite("Limits hold through races and crashes", .serialized)
struct DecisionCrashTests {
    /// `DECISION_KILLS` asks for more.
    private static let kills = ProcessInfo.processInfo.environment["DECISION_KILLS"].flatMap { Int($0) } ?? 3
    private static let clients = 64

    /// The nonces of all signatures that a client has received.
    private final class Received: Sendable {
        private let nonces = NIOLockedValueBox<[String]>([])

        var all: [String] { nonces.withLockedValue { $0 } }

        func add(_ nonce: String) { nonces.withLockedValue { $0.append(nonce) } }
    }

    @Test("64 clients race for the last of 1,000, and never one too many is signed")
    func total() async throws {
        let race = try await Race(customers: 1100, limits: "{total: 1000}")
        let received = Received()
        let next = NIOLockedValueBox(0)
        // Those without an answer ask again, as an app would.
        try await race.run(kills: Self.kills, until: { received.all.count >= 940 }) { connection in
            let number = next.withLockedValue { next in
                next += 1
                return next
            }
            guard number <= race.customers * 3 else { return nil }
            return try await race.ask(UInt64(number % race.customers + 1), over: &connection, received.add)
        }
        let slots = try await race.outstandingSlots()
        #expect(slots == 1000, "all of them, and never one too many")
        #expect(
            received.all.count <= slots && received.all.count > 1000 - 64 * (Self.kills + 1),
            "each signature has its reservation")
        #expect(Set(received.all).count == received.all.count)
        let reserved = try await race.reservedNonces()
        #expect(reserved.isSuperset(of: received.all), "what was handed out is durable")
        // Those that were reserved for nothing are free again when they expire.
        #expect(try await race.isFree(after: 27))
    }

    @Test("64 clients race for one customer's only one, and one of them gets it")
    func onlyOne() async throws {
        let race = try await Race(customers: 1, limits: "{perCustomer: 1}")
        let received = Received()
        let asked = NIOLockedValueBox(0)
        try await race.run(kills: Self.kills, until: { asked.withLockedValue { $0 } >= 2000 }) { connection in
            guard asked.withLockedValue({ $0 }) < 2000 else { return nil }
            asked.withLockedValue { $0 += 1 }
            return try await race.ask(1, over: &connection, received.add)
        }
        #expect(received.all.count <= 1)
        let reserved = try await race.reservedNonces()
        #expect(reserved.count == 1, "one reservation, whatever was asked: \(asked.withLockedValue { $0 })")
        #expect(try await race.isFree(after: 27))
    }
}

/// A service whose database knows some subscribers, all of whom the rule allows an offer.
private final class Race: Sendable {
    let customers: Int
    private let folder: TemporaryFolder
    private let keys: TemporaryFolder

    private static let app = AppScope(bundleID: Sample.bundleID, environment: .production)

    init(customers: Int, limits: String) async throws {
        self.customers = customers
        folder = try TemporaryFolder()
        keys = try TemporaryFolder()
        try keys.write(PrivateKeyPEM.generate(), to: "SubscriptionKey_\(RunningService.keyID).p8")
        try folder.write(
            """
            apps:
              - bundleID: com.example.app
                appAppleID: 1234567890
                products:
                  - productID: monthly
                    subscriptionGroupID: "21012345"
                    offers:
                      - {offerID: half, rule: {subscription: {status: active}}, limits: \(limits)}
            """.utf8, to: "config.yaml")
        let start = Timestamp(.now).milliseconds - 5 * 86_400_000
        let today = Double(Timestamp(.now).milliseconds - Sample.day(0).milliseconds) / 86_400_000
        var facts: [SubscriberFact] = []
        for number in 1...customers {
            let token = Sample.token(UInt64(number))
            let original = "\(500_000 + number)"
            facts.append(
                Sample.transaction(original, of: original) { purchase in
                    var moved = Purchase(
                        productID: purchase.productID, purchaseDate: Timestamp(milliseconds: start))
                    moved.type = purchase.type
                    moved.subscriptionGroupID = purchase.subscriptionGroupID
                    moved.expiresDate = Timestamp(milliseconds: start + 30 * 86_400_000)
                    moved.ownership = .purchased
                    moved.reason = .purchase
                    moved.price = 9990
                    moved.appAccountToken = token
                    purchase = moved
                })
            facts.append(Sample.renewal(of: original, signed: today - 4) { $0.appAccountToken = token })
        }
        try await withStore { [facts] store in try await store.merge(facts, in: Self.app) }
    }

    private var location: StoreLocation { .sqlite(path: folder.path + "/store.sqlite") }

    private func withStore<Result>(_ work: (any SubscriberStore) async throws -> Result) async throws -> Result {
        let store = try location.open()
        let result = try await work(store)
        try store.close()
        return result
    }

    private func start() throws -> RunningService {
        try RunningService(
            environment: [
                "SUBSCRIPTION_OFFERS_DATABASE": "sqlite:" + folder.path + "/store.sqlite",
                "SUBSCRIPTION_OFFERS_CONFIG": folder.path + "/config.yaml",
                "SUBSCRIPTION_OFFERS_ALLOW_ANYONE": "true",
                // With it, each answer could have both forms. Under a cap, it must have one.
                "SUBSCRIPTION_OFFERS_ISSUER_ID": "57246542-96fe-1a63-e053-0824d011072a",
                "SUBSCRIPTION_OFFERS_APP_STORE_API": "off",
            ], keys: keys)
    }

    /// Has 64 clients ask until none has anything to ask, and kills the service a few times in between.
    /// - Parameters:
    ///   - isLate: whether no kill is to come any more.
    ///   - work: asks once; nil ends the client, and false says that the connection is gone.
    func run(
        kills: Int, until isLate: @escaping @Sendable () -> Bool,
        _ work: @escaping @Sendable (inout Connection) async throws -> Bool?
    ) async throws {
        var random = SplitMix64(seed: 20)
        for round in 0...kills {
            let service = try await onOwnThread { try self.start() }
            let isLast = round == kills
            let pause = Int.random(in: 40...400, using: &random)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<64 {
                    group.addTask {
                        // The connection breaks when the service is killed.
                        try? await Connection.open(port: service.port) { connection in
                            while let isOpen = try await work(&connection), isOpen, isLast || !isLate() {}
                        }
                    }
                }
                if !isLast {
                    group.addTask {
                        try await Task.sleep(for: .milliseconds(pause))
                        service.killAtOnce()
                    }
                }
                try await group.waitForAll()
            }
            if isLast { #expect(try await onOwnThread { service.stop() } == 0) }
        }
    }

    /// Asks for a customer's best offer.
    /// - Returns: false if the connection is gone.
    func ask(
        _ customer: UInt64, over connection: inout Connection, _ receive: (String) -> Void
    ) async throws -> Bool {
        let body = #"{"bundleID":"com.example.app","appAccountToken":"\#(Sample.token(customer).description)"}"#
        guard let response = try? await connection.post("/v1/decisions", json: body) else { return false }
        // While the service starts, or under its limit for waiting requests.
        if response.status == 503 { return true }
        #expect(response.status == 200, "\(response.text)")
        let json = try JSONSerialization.jsonObject(with: Data(response.body)) as? [String: Any]
        guard let offer = (json?["offers"] as? [[String: Any]])?.first else { return true }
        let v1 = (offer["signature"] as? [String: Any])?["nonce"] as? String
        for nonce in [v1, (offer["compactJWS"] as? String).flatMap(Self.nonce)].compactMap(\.self) { receive(nonce) }
        return true
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

    private func authorisations() async throws -> [AuthorisationEntry] {
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
            return try await store.askLedger(request) == [.allowed]
        }
    }
}
