import Crypto
import Foundation
import Logging
import NIOSSL
import OfferCore
import OfferCrypto
import OfferTelemetry
import ServiceLifecycle
import StoreTestSupport
import SubscriberStore
import TestSupport
import Testing

@testable import AppStoreTestSupport
@testable import OfferConfiguration
@testable import SubscriberSync

@Suite("Forwarding")
struct ForwardingTests {
    /// A worker over a SQLite store in a folder of its own.
    private struct Forwarding {
        let folder: TemporaryFolder
        let store: SQLiteStore
        let current: CurrentStore
        let log = RecordedLog(level: .trace)
        let registry = MetricRegistry()
        let metrics: SyncMetrics
        let readiness = Readiness()

        init() throws {
            metrics = SyncMetrics(registry)
            folder = try TemporaryFolder()
            let path = folder.path + "/store.sqlite"
            store = try SQLiteStore(SQLiteSettings(path: path))
            current = CurrentStore(StoreSettings(location: .sqlite(path: path)), store: store, log: log.logger)
        }

        func add(_ uuid: String, of subscription: Int, to receivers: String..., body: String = "{}") async throws {
            let delivery = Sample.delivery(
                uuid, Sample.facts(subscription), received: 0, body: body, to: receivers)
            #expect(try await store.apply(delivery) == .applied)
        }

        /// Runs the worker until `condition` holds.
        func run(
            _ settings: ForwardSettings = ForwardSettings(), timeout: Duration = .seconds(600),
            at now: @escaping @Sendable () -> Timestamp = { Sample.day(0.001) },
            until condition: () async throws -> Bool
        ) async throws {
            let worker = ForwardingWorker(
                current, client: try ForwardClient(settings, timeout: timeout), now: now, readiness: readiness,
                metrics: metrics, log: log.logger)
            let group = ServiceGroup(
                services: [worker], logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { try await group.run() }
                do { try await waitUntil(condition) } catch {
                    await group.triggerGracefulShutdown()
                    throw error
                }
                await group.triggerGracefulShutdown()
                try await tasks.waitForAll()
            }
        }

        func pending() async throws -> Int { try await store.receivers().map(\.pending).reduce(0, +) }
    }

    @Test("a notification arrives byte for byte, with its UUID and a signature")
    func delivered() async throws {
        let receiver = try await TestReceiver()
        let forwarding = try Forwarding()
        try await forwarding.add("uuid-1", of: 1, to: receiver.url, body: "{ \"signedPayload\" : \"a\\u00e9\" }\n")
        let key = "0123456789abcdef0123456789abcdef"
        try await forwarding.run(ForwardSettings(key: Secret(key))) { try await forwarding.pending() == 0 }
        let requests = receiver.requests
        #expect(requests.count == 1)
        let request = try #require(requests.first)
        #expect(request.body == Array("{ \"signedPayload\" : \"a\\u00e9\" }\n".utf8))
        #expect(request.uuid == "uuid-1")
        #expect(request.headers["content-type"] == "application/json")
        let seconds = Sample.day(0.001).milliseconds / 1000
        let code = HMAC<Crypto.SHA256>.authenticationCode(
            for: Data("\(seconds).".utf8) + Data(request.body), using: SymmetricKey(data: Data(key.utf8)))
        let hex = code.map { String(format: "%02x", $0) }.joined()
        #expect(request.headers["offer-signer-signature"] == "t=\(seconds),v1=\(hex)")
        #expect(!forwarding.log.text.contains("marked"))
    }

    @Test("without a key, no signature is sent")
    func unsigned() async throws {
        let receiver = try await TestReceiver()
        let forwarding = try Forwarding()
        try await forwarding.add("uuid-1", of: 1, to: receiver.url)
        try await forwarding.run { try await forwarding.pending() == 0 }
        #expect(receiver.requests.first?.headers["offer-signer-signature"] == nil)
    }

    @Test("what a receiver refuses is sent again, and the later ones of the subscription wait for it")
    func order() async throws {
        let receiver = try await TestReceiver { $0.uuid == "a1" ? 400 : 200 }
        let forwarding = try Forwarding()
        for uuid in ["a1", "a2", "a3"] { try await forwarding.add(uuid, of: 1, to: receiver.url) }
        try await forwarding.add("b1", of: 2, to: receiver.url)
        try await forwarding.run { receiver.requests.contains { $0.uuid == "b1" } }
        try await forwarding.run { try await forwarding.pending() == 3 }
        #expect(Set(receiver.requests.compactMap(\.uuid)) == ["a1", "b1"])
        receiver.answer { _ in 204 }
        try await forwarding.run(at: { Sample.day(0.01) }) { try await forwarding.pending() == 0 }
        #expect(receiver.requests.compactMap(\.uuid).filter { $0 != "b1" } == ["a1", "a1", "a2", "a3"])
    }

    @Test("everything that has waited for three days for a receiver that is down becomes a dead letter")
    func threeDays() async throws {
        let receiver = try await TestReceiver { _ in 500 }
        let forwarding = try Forwarding()
        for number in 0..<1200 { try await forwarding.add("\(number)", of: number, to: receiver.url) }
        try await forwarding.run(at: { Sample.day(2.9) }) {
            forwarding.log.text.contains("a receiver of notifications fails")
        }
        #expect(try await forwarding.pending() == 1200)
        // Few attempts are made, and still nothing waits.
        try await forwarding.run(at: { Sample.day(3.1) }) { try await forwarding.pending() == 0 }
        #expect(try await forwarding.store.receivers().map(\.dead) == [1200])
        #expect(receiver.requests.count < 200)
        #expect(forwarding.log.text.contains("notification given up"))
    }

    @Test("a receiver that never answers does not delay another one")
    func hanging() async throws {
        let (silent, quick) = (try await TestReceiver { _ in nil }, try await TestReceiver())
        let forwarding = try Forwarding()
        for number in 0..<100 { try await forwarding.add("\(number)", of: number, to: silent.url, quick.url) }
        try await forwarding.run {
            guard quick.requests.count == 100 else { return false }
            // The worker stops when the requests under way have ended.
            try await silent.hangUp()
            return true
        }
        #expect(try await forwarding.store.receivers().first { $0.url == silent.url }?.pending == 100)
    }

    @Test("a URL that never answers gets 32 notifications at a time, and delays no other URL of its host")
    func sharedHost() async throws {
        let receiver = try await TestReceiver { $0.uri.hasSuffix("&silent") ? nil : 200 }
        let silent = receiver.url + "&silent"
        let forwarding = try Forwarding()
        for number in 0..<100 { try await forwarding.add("\(number)", of: number, to: silent, receiver.url) }
        func count(isSilent: Bool) -> Int {
            receiver.requests.count { $0.uri.hasSuffix("&silent") == isSilent }
        }
        try await forwarding.run {
            guard count(isSilent: true) == 32, count(isSilent: false) == 100 else { return false }
            // The worker stops when the requests under way have ended.
            try await receiver.hangUp()
            return true
        }
        #expect(Set(receiver.requests.filter { !$0.uri.hasSuffix("&silent") }.map(\.uuid)).count == 100)
    }

    @Test("a receiver that cannot be reached gets one notification at a time, and all once it works")
    func pause() async throws {
        let receiver = try await TestReceiver { _ in 503 }
        let forwarding = try Forwarding()
        for number in 0..<100 { try await forwarding.add("\(number)", of: number, to: receiver.url) }
        try await forwarding.run { receiver.requests.count >= 33 }
        // One group of 32, and then single ones.
        #expect(receiver.requests.count < 64)
        #expect(forwarding.log.text.contains("a receiver of notifications fails"))
        receiver.answer { _ in 200 }
        try await forwarding.run(at: { Sample.day(0.1) }) { try await forwarding.pending() == 0 }
    }

    @Test("a notification that its receiver has not accepted for three days becomes a dead letter")
    func dead() async throws {
        let receiver = try await TestReceiver { _ in 404 }
        let forwarding = try Forwarding()
        try await forwarding.add("uuid-1", of: 1, to: receiver.url)
        try await forwarding.run(at: { Sample.day(2.99) }) { receiver.requests.count == 1 }
        #expect(try await forwarding.store.deadLetters(after: nil, limit: 10).isEmpty)
        try await forwarding.run(at: { Sample.day(3.1) }) { try await forwarding.pending() == 0 }
        let letters = try await forwarding.store.deadLetters(after: nil, limit: 10)
        #expect(letters.map(\.forward.contentID) == ["uuid-1"])
        #expect(forwarding.log.text.contains("given up"))
        var text = ExpositionText()
        forwarding.registry.write(.forwards, to: &text)
        #expect(String(decoding: text.bytes, as: UTF8.self).contains(#"outcome="dead"} 1"#))
    }

    @Test("one that was sent but not settled is sent again after its lease")
    func lease() async throws {
        let receiver = try await TestReceiver()
        let forwarding = try Forwarding()
        try await forwarding.add("uuid-1", of: 1, to: receiver.url)
        let claimed = try await forwarding.store.claimForwards(
            to: receiver.url, dueAt: Sample.day(0.001), leaseEnd: Sample.day(0.002), limit: 1)
        #expect(claimed.count == 1)
        try await forwarding.run(at: { Sample.day(0.003) }) { try await forwarding.pending() == 0 }
        #expect(receiver.requests.count == 1)
    }

    @Test(
        "a receiver with a certificate of a private authority is trusted only if the authority is",
        arguments: [true, false])
    func privateAuthority(isTrusted: Bool) async throws {
        let (authority, pem) = (try TestKey.p256(), try PrivateKeyPEM.generate())
        let key = try TestKey.p256(pem: pem)
        func certificate(_ subject: String, _ publicKey: [UInt8], _ extensions: [TestCertificate.Extension]) throws
            -> [UInt8]
        {
            var certificate = TestCertificate(
                subject: subject, issuer: "Private CA", publicKey: publicKey, extensions: extensions)
            certificate.notAfter = 4_000_000_000
            return try certificate.signed(by: authority)
        }
        let root = try certificate(
            "Private CA", authority.publicKey, [.basicConstraints(isCA: true), .keyUsage(0x06)])
        let leaf = try certificate(
            "localhost", key.publicKey, [.basicConstraints(isCA: false), .subjectAlternativeName("localhost")])
        let tls = try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: [.certificate(NIOSSLCertificate(bytes: leaf, format: .der))],
                privateKey: .privateKey(NIOSSLPrivateKey(bytes: pem, format: .pem))))
        let receiver = try await TestReceiver(tls: tls)
        let forwarding = try Forwarding()
        try await forwarding.add("uuid-1", of: 1, to: receiver.url)
        let roots = isTrusted ? [try X509Certificate(der: root)] : []
        try await forwarding.run(ForwardSettings(roots: roots)) {
            try await isTrusted
                ? forwarding.pending() == 0 : forwarding.log.text.contains("a receiver of notifications fails")
        }
        #expect(receiver.requests.count == (isTrusted ? 1 : 0))
        if !isTrusted { #expect(forwarding.log.text.contains("TLS")) }
    }

    @Test("the delay doubles from five seconds to an hour, and ends after three days")
    func schedule() {
        func delay(_ failures: Int, share: Double = 0) -> Int64? {
            let now = Sample.day(1)
            let outcome = ForwardSchedule.outcome(
                afterFailures: failures, receivedAt: Sample.day(0), share: share, at: now)
            guard case .failed(let next) = outcome else { return nil }
            return next.milliseconds - now.milliseconds
        }
        #expect(
            (0...12).map { delay($0) }
                == [5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600, 3600].map { $0 * 1000 })
        #expect(delay(.max) == 3_600_000)
        #expect(delay(0, share: 1) == 4500)
        let dead = ForwardSchedule.outcome(
            afterFailures: 1, receivedAt: Sample.day(0), share: 0, at: Sample.day(3))
        #expect(dead == .dead(at: Sample.day(3)))
        #expect(ForwardSchedule.outcome(afterFailures: 0, receivedAt: .min, share: 0, at: .max) == .dead(at: .max))
    }
}
