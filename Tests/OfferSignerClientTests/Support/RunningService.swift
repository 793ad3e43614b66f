import Foundation
import Testing

@testable import OfferSignerClient

/// A real `offer-signer serve` on a free port of 127.0.0.1, with a development key and a database.
final class RunningService: Sendable {
    static let signer = Result { try AppStoreSigner() }

    let port: Int
    let folder: TemporaryFolder
    private let process: Process

    struct DidNotStart: Error {
        let log: String
    }

    /// - Parameters:
    ///   - more: lines of the configuration file.
    ///   - arguments: of `serve`.
    init(_ more: String = "", arguments: [String] = []) throws {
        folder = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: folder.path("keys"), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try folder.write(
            """
            apps:
              - bundleID: \(Fixtures.bundleID)
                appAppleID: 1234567890
                environments: [Production]
                products:
                  - productID: \(Fixtures.productID)
                    subscriptionGroupID: "\(Fixtures.groupID)"
                    offers:
                      - plain
                      - retention_50off_3m
                      - {offerID: once, rule: {everSubscribed: true}, priority: 9, limits: {perCustomer: 1}}
                      - {offerID: monthly, rule: {everSubscribed: true}, billingPlan: MONTHLY}
                      - {offerID: never, rule: {subscription: {status: revoked}}}
            \(more)
            """, to: "offers.yaml")
        for name in ["out", "log"] { try folder.write("", to: name) }
        process = Process()
        process.executableURL = Locations.offerSigner
        process.arguments =
            [
                "serve", "--development", "--keys-dir", folder.path("keys"), "--port", "0", "--config",
                folder.path("offers.yaml"),
            ]
            + ["--audit-log", folder.path("audit")] + arguments
        process.environment = [
            "PATH": "/usr/bin:/bin", "SUBSCRIPTION_OFFERS_APP_STORE_ROOTS": try Self.signer.get().rootPath,
            "SUBSCRIPTION_OFFERS_DATABASE": "sqlite:" + folder.path("subscribers.sqlite"),
            "SUBSCRIPTION_OFFERS_ISSUER_ID": "57246542-96fe-1a63-e053-0824d011072a",
        ]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: folder.url.appendingPathComponent("out"))
        process.standardError = try FileHandle(forWritingTo: folder.url.appendingPathComponent("log"))
        try process.run()
        var port: Int?
        while port == nil {
            guard process.isRunning else { throw DidNotStart(log: folder.text("log")) }
            port = folder.text("out").firstMatch(of: /:\/\/127\.0\.0\.1:([0-9]+)\n/).flatMap { Int($0.output.1) }
            Thread.sleep(forTimeInterval: 0.02)
        }
        self.port = port ?? 0
    }

    deinit { if process.isRunning { process.terminate() } }

    var log: String { folder.text("log") }

    /// The number of signed answers in the audit trail.
    var signatures: Int { folder.text("audit").split(separator: "\n").filter { $0.contains("\"nonce\"") }.count }

    func transport(port: Int? = nil, scheme: String = "http", timeout: TimeInterval = 15) throws -> URLSessionTransport
    {
        URLSessionTransport(
            server: try #require(URL(string: "\(scheme)://127.0.0.1:\(port ?? self.port)")), timeout: timeout)
    }

    /// Sends a request that is not the client's.
    func post(_ path: String, _ body: [String: Any]) async throws -> [String: Any] {
        let data = try JSONSerialization.data(withJSONObject: body)
        let answer = try await transport().send(
            TransportRequest(path: path, headers: ["Content-Type": "application/json"], body: data))
        return try #require(try JSONSerialization.jsonObject(with: answer.body) as? [String: Any])
    }

    /// Verifies signatures as the App Store would: with the public key, for the values that StoreKit got.
    func verifies(_ presented: Dictionary<String, Any>) async -> Bool {
        let explanation = try? await post("v1/explanations", presented)
        return explanation?["verifies"] as? Bool ?? false
    }
}
