import AppStoreAPI
import AppStoreData
import AppStoreStandIn
import AppStoreTestSupport
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import OfferCore
import OfferCrypto
import OfferEligibility
import OutgoingHTTP
import StoreTestSupport
import TestSupport

/// A stand-in for the App Store, and a client of it with throw-away keys.
struct StandInFixture {
    static let app = Sample.production
    static var firstKey: KeyID { get throws { try KeyID(utf8: Array("FIRSTKEY01".utf8)) } }
    static var secondKey: KeyID { get throws { try KeyID(utf8: Array("SECONDKEY2".utf8)) } }

    let standIn: AppStoreStandIn
    let currentCredentials: NIOLockedValueBox<TokenCredentials>
    let issuerIDs: IssuerIDs
    let observations = NIOLockedValueBox<[APIObservation]>([])
    /// The delays that the client has waited for.
    let delays = NIOLockedValueBox<[Duration]>([])
    let keys: [KeyID: SigningKey]
    private let folder: TemporaryFolder

    /// - Parameters:
    ///   - customers: in each environment.
    ///   - weeks: for how long they have lived.
    init(customers: Int = 20, weeks: Double = 1, pageSize: Int = 20) async throws {
        let clock = WorldClock()
        folder = try TemporaryFolder()
        var keys: [KeyID: SigningKey] = [:]
        for id in [try Self.firstKey, try Self.secondKey] { keys[id] = try SigningKey(text: PrivateKeyPEM.generate()) }
        self.keys = keys
        let start = Int64(Date().timeIntervalSince1970 * 1000)
        let birth = NIOLockedValueBox<Int64?>(start - clock.days(7 * weeks))
        var settings = AppStoreStandIn.Settings {
            birth.withLockedValue { $0 } ?? Int64(Date().timeIntervalSince1970 * 1000)
        }
        settings.production.customers = customers
        settings.sandbox.customers = customers
        settings.production.pageSize = pageSize
        settings.keys = Dictionary(uniqueKeysWithValues: keys.map { ($0.key.description, $0.value) })
        standIn = try await AppStoreStandIn(settings, folder: folder.path)
        birth.withLockedValue { $0 = nil }
        await standIn.advance()
        let issuer = try IssuerID(utf8: Array(settings.issuerID.utf8))
        issuerIDs = IssuerIDs(ofAllApps: issuer)
        currentCredentials = NIOLockedValueBox(
            TokenCredentials(ring: try Self.ring(keys, signing: Self.firstKey), issuerIDs: issuerIDs))
    }

    var credentials: TokenCredentials {
        get { currentCredentials.withLockedValue { $0 } }
        nonmutating set { currentCredentials.withLockedValue { $0 = newValue } }
    }

    static func ring(_ keys: [KeyID: SigningKey], signing id: KeyID) throws -> KeyRing {
        var ring = KeyRing()
        for (id, key) in keys { try ring.add(KeyRing.Key(id: id, pair: key)) }
        try ring.choose(KeyChoice(ofAllApps: id))
        return ring
    }

    /// - Parameter url: of production; nil for that of the stand-in.
    func withClient<Result>(
        url: String? = nil, trusted: Bool = true, limitScale: Double = 1,
        now: @escaping @Sendable () -> Timestamp = { Timestamp(Date()) },
        _ work: (AppStoreClient) async throws -> Result
    ) async throws -> Result {
        let text = try [UInt8](Data(contentsOf: URL(filePath: standIn.tls.rootPath)))
        let roots = try X509Certificate.readAll(text)
        let transport = try OutgoingClient(roots: trusted ? roots : [])
        let (delays, observations) = (delays, observations)
        let pacing = Pacing(now: now, sleep: { delay in delays.withLockedValue { $0.append(delay) } }, chance: { 0.5 })
        let client = AppStoreClient(
            hosts: APIHosts(production: url ?? standIn.productionURL, sandbox: standIn.sandboxURL),
            tokens: TokenSource(
                credentials: { [currentCredentials] in currentCredentials.withLockedValue { $0 } }, now: now),
            transport: transport,
            pacing: pacing,
            limitScale: limitScale
        ) { observation in observations.withLockedValue { $0.append(observation) } }
        let result: Swift.Result<Result, any Error>
        do { result = .success(try await work(client)) } catch { result = .failure(error) }
        await transport.close()
        await standIn.stop()
        return try result.get()
    }

    /// The first subscription that exists.
    var subscription: TransactionNumber {
        get throws {
            let id = standIn.production.subscriptions.joined().first ?? ""
            return try number(id)
        }
    }

    /// The root of the stand-in's App Store data.
    var dataRoots: TrustedRoots {
        get throws {
            TrustedRoots(try X509Certificate.readAll([UInt8](Data(contentsOf: URL(filePath: standIn.dataRootPath)))))
        }
    }

    func number(_ id: String) throws -> TransactionNumber {
        guard let number = TransactionNumber(try TransactionID(utf8: Array(id.utf8))) else {
            throw CocoaError(.coderInvalidValue)
        }
        return number
    }
}
