import Dispatch
import Foundation
import Logging
import NIOConcurrencyHelpers
import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferHTTP
import OfferService
import SubscriberStore
import SubscriberSync

/// The whole service without a socket, which trusts the chain of ``AppStoreSamples``, and its database in a temporary folder.
final class FuzzedIntake: Sendable {
    /// nil if it cannot be built.
    static let shared: FuzzedIntake? = {
        atexit { FuzzedIntake.removeFolder() }
        return try? FuzzedIntake()
    }()

    /// The shared secret of the app.
    static let sharedSecret = "secret"

    private let router: Router
    private let store: SQLiteStore

    private static let folder = FileManager.default.temporaryDirectory
        .appending(path: "offer-fuzz-\(UUID().uuidString)")

    private static func removeFolder() { try? FileManager.default.removeItem(at: folder) }

    /// After the dates in the samples.
    private static let now = Timestamp(milliseconds: 1_762_000_000_000)

    private init() throws {
        try FileManager.default.createDirectory(at: Self.folder, withIntermediateDirectories: false)
        let path = Self.folder.appending(path: "store.sqlite").path
        store = try SQLiteStore(SQLiteSettings(path: path))
        let log = Logger(label: "fuzz") { _ in SwiftLogNoOpLogHandler() }
        let app = Catalogue.App(
            appAppleID: 1_234_567_890, offers: [:],
            notifications: AppNotifications(sharedSecret: Secret(Self.sharedSecret)))
        let bundleID = try BundleID(utf8: Array("com.example.app".utf8))
        let key = KeyRing.Key(id: try KeyID(utf8: Array("FUZZKEY123".utf8)), pair: AppStoreKeys.leafKey)
        let policy = CurrentPolicy(
            Policy(
                ring: KeyRing(active: key), catalogue: Catalogue(apps: [bundleID: app]), issuerIDs: IssuerIDs(),
                callers: Callers([]), limits: Limits(), proxies: TrustedProxies()))
        let sources = SystemInputs(now: { Self.now }, makeNonce: SystemInputs.system.makeNonce)
        var dependencies = Application.Dependencies(policy: policy, sources: sources, log: log)
        dependencies.subscribers.trust = AppStoreTrust(
            AppStoreSettings(roots: AppStoreKeys.roots), now: sources.now, metrics: dependencies.telemetry.metrics.sync,
            log: log)
        dependencies.subscribers.store = CurrentStore(
            StoreSettings(location: .sqlite(path: path)), store: store, log: log)
        router = Application(dependencies).router(for: .notifications, isOnLoopback: false)
    }

    func post(_ body: [UInt8]) -> HTTPResponse {
        let request = HTTPRequest(
            method: "POST", target: "/v1/app-store-notifications", contentType: "application/json", body: body)
        switch router.reply(to: request, shedding: .none) {
        case .now(let response): return response
        case .after(_, let response): return response(true)
        case .later(let work, _, _): return Self.wait { await work()() } ?? HTTPResponse(status: 0, body: [])
        }
    }

    /// The number of notifications that were ever stored; -1 if it cannot be read.
    var storedCount: Int {
        Self.wait { [store] in (try? await store.intakes())?.map(\.notifications).reduce(0, +) } ?? -1
    }

    /// Deletes the bodies, so that the database stays small.
    func forgetBodies() {
        _ = Self.wait { [store] in
            try? await store.prunePayloads(receivedBefore: Timestamp(milliseconds: .max), limit: 100)
        }
    }

    /// Blocks until the work is done. It runs on threads of its own, because a fuzz target has one thread only.
    private static func wait<Value: Sendable>(_ work: @escaping @Sendable () async -> Value?) -> Value? {
        let value = NIOLockedValueBox<Value?>(nil)
        let isDone = DispatchSemaphore(value: 0)
        Task(executorPreference: QueueExecutor.shared) {
            let made = await work()
            value.withLockedValue { $0 = made }
            isDone.signal()
        }
        isDone.wait()
        return value.withLockedValue { $0 }
    }

    private final class QueueExecutor: TaskExecutor {
        static let shared = QueueExecutor()
        private let queue = DispatchQueue(label: "intake", attributes: .concurrent)

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }
}
