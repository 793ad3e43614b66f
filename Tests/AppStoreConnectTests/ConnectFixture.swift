import AppStoreAPI
import AppStoreConnect
import AppStoreStandIn
import Foundation
import NIOConcurrencyHelpers
import OfferConfiguration
import OfferCore
import OfferCrypto
import OfferEligibility
import OutgoingHTTP
import TestSupport

/// A stand-in for App Store Connect, and a client of it with a throw-away key. The client's clock moves only when it waits.
struct ConnectFixture {
    static var keyID: KeyID { get throws { try KeyID(utf8: Array("CONNECTKEY".utf8)) } }
    static var bundleID: BundleID { get throws { try BundleID(utf8: Array("com.example.app".utf8)) } }
    static let issuer = "57246542-96fe-1a63-e053-0824d011072a"

    let standIn: AppStoreConnectStandIn
    let key: AppStoreConnectKey
    private let recordedWaits = NIOLockedValueBox<[Duration]>([])
    private let recordedOutcomes = NIOLockedValueBox<[String]>([])
    private let clock: NIOLockedValueBox<Timestamp>
    private let folder: TemporaryFolder

    /// - Parameter isIndividual: true for an individual key, which has no issuer.
    init(_ catalogue: ConnectCatalogue = .example, isIndividual: Bool = false) async throws {
        folder = try TemporaryFolder()
        let pair = try SigningKey(text: PrivateKeyPEM.generate())
        let clock = NIOLockedValueBox(Timestamp(Date()))
        self.clock = clock
        key = AppStoreConnectKey(
            keyID: try Self.keyID, issuerID: isIndividual ? nil : try IssuerID(utf8: Array(Self.issuer.utf8)),
            pair: pair)
        standIn = try await AppStoreConnectStandIn(
            catalogue, folder: folder.path, issuerID: isIndividual ? nil : Self.issuer,
            key: (Self.keyID.description, pair),
            now: { clock.withLockedValue { $0.milliseconds } })
    }

    /// The waits of the client.
    var waits: [Duration] { recordedWaits.withLockedValue { $0 } }
    /// The outcomes of the client's attempts.
    var outcomes: [String] { recordedOutcomes.withLockedValue { $0 } }

    var now: Timestamp { clock.withLockedValue { $0 } }

    func advance(_ time: Duration) { clock.withLockedValue { $0 = $0 + time } }

    func withClient<Result>(
        host: String? = nil, patience: Duration = .hours(1), hurried: Int? = nil,
        _ work: (AppStoreConnectClient) async throws -> Result
    ) async throws -> Result {
        let roots = try X509Certificate.readAll([UInt8](Data(contentsOf: URL(filePath: standIn.tls.rootPath))))
        let transport = try OutgoingClient(roots: roots)
        let (clock, waits, outcomes) = (clock, recordedWaits, recordedOutcomes)
        let pacing = Pacing(
            now: { clock.withLockedValue { $0 } },
            sleep: { wait in
                waits.withLockedValue { $0.append(wait) }
                clock.withLockedValue { $0 = $0 + wait }
            }, chance: { 0.5 })
        let client = AppStoreConnectClient(
            host: host ?? standIn.url, key: key,
            transport: hurried.map { Hurried(transport: transport, number: $0) } ?? transport,
            pacing: pacing, patience: patience,
            observe: { observation in outcomes.withLockedValue { $0.append(observation.outcome) } })
        let result: Swift.Result<Result, any Error>
        do { result = .success(try await work(client)) } catch { result = .failure(error) }
        await transport.close()
        await standIn.stop()
        return try result.get()
    }

    func read(
        _ client: AppStoreConnectClient, _ wanted: AppListingReader.Wanted = .all
    ) async throws -> AppListing {
        try await AppListingReader(client: client, now: { [clock] in clock.withLockedValue { $0 } })
            .read(Self.bundleID, wanted)
    }
}

/// A transport that waits only a moment for the answer to one request, and as long as the client wants for the others.
private struct Hurried: HTTPExchange {
    let transport: OutgoingClient
    /// The number of the request, from 1.
    let number: Int
    private let count = NIOLockedValueBox(0)

    init(transport: OutgoingClient, number: Int) {
        self.transport = transport
        self.number = number
    }

    func exchange(_ request: OutgoingRequest, within limit: Duration) async throws(OutgoingFailure) -> IncomingResponse
    {
        let place = count.withLockedValue { count in
            count += 1
            return count
        }
        return try await transport.exchange(request, within: place == number ? .milliseconds(500) : limit)
    }
}
