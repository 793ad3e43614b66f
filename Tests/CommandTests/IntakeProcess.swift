import AppStoreTestSupport
import Foundation
import TestSupport
import Testing

/// What the intake of notifications needs to run as a process: an app, a chain made for tests, and a database.
struct IntakeProcess: Sendable {
    let folder: TemporaryFolder
    /// The path of the database.
    let database: String
    private let keys: TemporaryFolder
    private let signer: NotificationSigner

    static let subscriptions = 20

    /// - Parameter database: a path; nil for a file in ``folder``.
    init(database: String? = nil) throws {
        folder = try TemporaryFolder()
        self.database = database ?? folder.path + "/store.sqlite"
        keys = try RunningService.makeKeys()
        try NotificationSigner.make(in: folder.path + "/roots")
        signer = try NotificationSigner(folder: folder.path + "/roots")
        try folder.write(Self.configuration.utf8, to: "config.yaml")
    }

    private static let configuration = """
        apps:
          - bundleID: com.example.app
            appAppleID: 1234567890
            products:
              - {productID: com.example.app.pro.monthly, offers: [retention_50off_3m]}
        """

    func start() throws -> RunningService {
        try RunningService(
            environment: [
                "SUBSCRIPTION_OFFERS_APP_STORE_ROOTS": folder.path + "/roots/" + NotificationSigner.rootFile,
                "SUBSCRIPTION_OFFERS_DATABASE": "sqlite:" + database,
                "SUBSCRIPTION_OFFERS_CONFIG": folder.path + "/config.yaml",
            ], keys: keys)
    }

    // MARK: Load

    /// Starts `notification-load`, which ends when the service does.
    func startLoad(on service: RunningService, seed: UInt64) throws -> Process {
        try folder.write([], to: "load-\(seed).json")
        let process = Process()
        process.executableURL = URL(filePath: Command.offerSigner).deletingLastPathComponent()
            .appending(path: "notification-load")
        process.arguments = [
            "send", "--roots", folder.path + "/roots", "--count", "1000000", "--connections", "16",
            "--url", "http://127.0.0.1:\(service.port)/v1/app-store-notifications", "--seed", "\(seed)",
            "--subscriptions", "\(Self.subscriptions)", "--acknowledged", folder.path + "/acknowledged",
        ]
        process.standardOutput = try FileHandle(
            forWritingTo: folder.url.appending(path: "load-\(seed).json"))
        try process.run()
        return process
    }

    /// The `notificationUUID` of each notification that got 200, in every run.
    func acknowledged() -> [String] {
        (try? folder.lines("acknowledged")) ?? []
    }

    /// The statuses other than 200 that a load had.
    func refusals(ofLoad seed: UInt64) throws -> [String: Int] {
        let json = try JSONSerialization.jsonObject(with: Data(folder.read("load-\(seed).json"))) as? [String: Any]
        return try #require(json?["refused"] as? [String: Int])
    }

    // MARK: Single requests

    /// The first notifications of a plan.
    static func plan(_ count: Int, seed: UInt64 = 1) -> [PlannedNotification] {
        var plan = NotificationPlan(seed: seed, subscriptions: subscriptions)
        return (0..<count).map { _ in plan.next() }
    }

    func post(_ notification: PlannedNotification, to service: RunningService) async throws -> ReceivedResponse {
        let body = String(decoding: try signer.body(of: notification), as: UTF8.self)
        return try await service.post("/v1/app-store-notifications", body)
    }
}
