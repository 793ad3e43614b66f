import NIOConcurrencyHelpers
import OfferAudit
import OfferCore
import OfferCrypto
import OfferHTTP
import OfferService
import OfferTelemetry
import TestSupport
import Testing

@testable import OfferConfiguration
@testable import SubscriberSync

/// The checks in `/health/ready`, and who can see the details.
@Suite("Readiness")
struct ReadyTests {
    private static let sample = #"{"appBundleID":"a","productIdentifier":"p","offerID":"o","applicationUsername":""}"#

    private static let clock = ClockCheck(buildDay: "Jan  1 2026")

    /// A service and its ``HealthMonitor``. The test controls both clocks and the result of every verification.
    private final class Machine: Sendable {
        let routes: TestService
        private let keeper: HealthMonitor
        private let steady: NIOLockedValueBox<ContinuousClock.Instant>
        private let signatures: NIOLockedValueBox<Result<Bool, FaultyKeyPair.Failure>?>

        init(
            pair: (any SigningKeyPair)? = nil, callers: [Caller] = [], role: ListenerRole = .all
        ) throws {
            let steady = NIOLockedValueBox(ContinuousClock.now)
            let signatures = NIOLockedValueBox<Result<Bool, FaultyKeyPair.Failure>?>(nil)
            let selfTest = try SelfTest(
                .test {
                    $0.verify = { signature, message, key in
                        if let answer = signatures.withLockedValue({ $0 }) { return try answer.get() }
                        return try VerifyingKey(der: key).verify(signature, of: message)
                    }
                })
            (self.steady, self.signatures) = (steady, signatures)
            let routes = try TestService(
                pair: pair, issuerIDs: IssuerIDs(ofAllApps: Fixtures.issuerID()), callers: callers, role: role,
                parts: {
                    $0.safeguards.selfTest = selfTest
                    $0.safeguards.earliest = ReadyTests.clock.earliest
                })
            self.routes = routes
            keeper = HealthMonitor(
                selfTest: selfTest, keys: routes.keyHealth, clock: ReadyTests.clock,
                now: { routes.wall.withLockedValue { $0 } },
                steadyNow: { steady.withLockedValue { $0 } }, readiness: routes.readiness, metrics: routes.metrics,
                log: routes.log.logger)
        }

        /// - Parameter answer: the result that every verification returns; nil to verify for real.
        func verify(allAs answer: Bool?) { signatures.withLockedValue { $0 = answer.map { .success($0) } } }

        /// Lets every verification of the self-test end in an error.
        func failVerifications() { signatures.withLockedValue { $0 = .failure(FaultyKeyPair.Failure()) } }

        /// Advances both clocks by `seconds`, shifts the wall clock by another `milliseconds`, and runs the checks.
        func pass(seconds: Int64, setBy milliseconds: Int64 = 0) async {
            steady.withLockedValue { $0 += .seconds(seconds) }
            set(by: seconds * 1000 + milliseconds)
            await keeper.check()
        }

        func set(by milliseconds: Int64) {
            routes.wall.withLockedValue { $0 = Timestamp(milliseconds: $0.milliseconds + milliseconds) }
        }
    }

    private static func checks(_ answer: HTTPResponse) -> [String: String] {
        answer.json["checks"] as? [String: String] ?? [:]
    }

    @Test("a healthy service reports every check as ok and unused features as off")
    func well() async throws {
        let machine = try Machine()
        await machine.pass(seconds: 1)
        let answer = machine.routes.get("/health/ready")
        #expect(answer.status == 200 && answer.json["status"] as? String == "ready")
        #expect(
            Self.checks(answer)
                == [
                    "keys": "ok", "selfTest": "ok", "audit": "off", "clock": "ok", "catalogue": "off", "appStore": "ok",
                    "appStoreAPI": "off", "appStoreConnect": "off",
                    "store": "off", "notifications": "off", "ledger": "off", "retention": "off",
                ])
        #expect(answer.json["activeKeys"] as? [String] == ["TESTKEY123"])
        #expect(answer.json["problems"] == nil)
    }

    // MARK: Access to details

    @Test(
        "active keys are shown only with the metrics scope; every other request still gets 200",
        arguments: [
            (nil, false), ("Bearer strange", false), ("Bearer token-of-signer", false),
            ("Basic token-of-watcher", false),
            ("", false), ("Bearer token-of-watcher", true),
        ])
    func details(authorization: String?, isTold: Bool) throws {
        let routes = try TestService(callers: [.test("signer", [.sign]), .test("watcher", [.metrics])])
        let answer = routes.get("/health/ready", authorization: authorization)
        #expect(answer.status == 200)
        #expect(Self.checks(answer).count == 12)
        #expect((answer.json["activeKeys"] != nil) == isTold)
        #expect(answer.text.contains("TESTKEY123") == isTold)
    }

    @Test("details are shown with the metrics scope, for both 200 and 503, and to anyone on the metrics address")
    func problems() async throws {
        let machine = try Machine(callers: [.test("watcher", [.metrics])])
        await machine.pass(seconds: 1)
        await machine.pass(seconds: 1, setBy: 3_600_000)
        for status in [200, 503] {
            let (short, whole) = (
                machine.routes.get("/health/ready"),
                machine.routes.get("/health/ready", token: "token-of-watcher")
            )
            #expect((short.status, whole.status) == (status, status))
            #expect(Self.checks(short) == Self.checks(whole))
            #expect(short.json["problems"] == nil && !short.text.contains("was set from"))
            #expect((whole.json["problems"] as? [String])?.contains { $0.contains("was set from") } == true)
            machine.set(by: -86_400_000 * 10)
        }
        let alone = try Machine(callers: [.test("watcher", [.metrics])], role: .metricsOnly)
        #expect(alone.routes.get("/health/ready").json["activeKeys"] != nil)
    }

    // MARK: Keys and cryptography

    @Test("a key that makes a bad signature fails only the `keys` check")
    func keys() throws {
        let routes = try TestService(pair: StubKeyPair())
        #expect(routes.post("/offer", Self.sample).status == 503)
        let answer = routes.get("/health/ready")
        #expect(answer.status == 503 && answer.mediaType == .problem)
        #expect(answer.json["status"] as? Int == 503)
        #expect(answer.json["code"] as? String == "not_ready")
        #expect(Self.checks(answer)["keys"] == "failed" && Self.checks(answer)["clock"] == "ok")
        #expect(routes.scrape()["offer_signer_ready"] == 0)
    }

    /// A key whose faults the test controls.
    fileprivate final class FaultyKeyPair: SigningKeyPair {
        enum Fault: CaseIterable {
            case badSignature, acceptsAlteredSignature, acceptsAlteredMessage
        }

        enum Step: String, CaseIterable { case signing, verification }

        struct Failure: Error, CustomStringConvertible { let description = "out of memory" }

        let key: SigningKey
        var fingerprint: String { key.fingerprint }
        private let state = NIOLockedValueBox<(fault: Fault?, fails: Step?, last: [[UInt8]])>((nil, nil, []))

        init() throws { key = try Fixtures.makeSigningKey() }

        func set(_ fault: Fault?) { state.withLockedValue { $0.fault = fault } }
        func set(failing step: Step?) { state.withLockedValue { $0.fails = step } }

        func sign(_ message: [UInt8]) throws -> [UInt8] {
            guard state.withLockedValue({ $0.fails != .signing }) else { throw Failure() }
            let isBad = state.withLockedValue { $0.fault == .badSignature }
            let signature = try key.sign(isBad ? message + [0] : message)
            state.withLockedValue { $0.last = [signature, message] }
            return signature
        }

        func verify(_ signature: [UInt8], of message: [UInt8]) throws -> Bool {
            let (fault, fails, last) = state.withLockedValue { $0 }
            guard fails != .verification else { throw Failure() }
            switch fault {
            case .acceptsAlteredSignature where signature != last.first: return true
            case .acceptsAlteredMessage where message != last.last: return true
            default: return try key.verify(signature, of: message)
            }
        }
    }

    @Test("the minute's self-test takes a faulty key out of service", arguments: FaultyKeyPair.Fault.allCases)
    fileprivate func keyTest(fault: FaultyKeyPair.Fault) async throws {
        let pair = try FaultyKeyPair()
        let machine = try Machine(pair: pair)
        await machine.pass(seconds: 60)
        #expect(machine.routes.get("/health/ready").status == 200)
        pair.set(fault)
        await machine.pass(seconds: 59)
        #expect(machine.routes.get("/health/ready").status == 200, "the self-test runs once a minute")
        await machine.pass(seconds: 1)
        pair.set(nil)
        await machine.pass(seconds: 120)
        let answer = machine.routes.get("/health/ready")
        #expect(answer.status == 503)
        #expect(Self.checks(answer)["keys"] == "failed" && Self.checks(answer)["selfTest"] == "ok")
        #expect(
            answer.json["problems"] as? [String] == [
                "key TESTKEY123 is out of service, because it failed a test or made a bad signature"
            ])
        #expect(machine.routes.post("/offer", Self.sample).status == 503)
        let alarms = machine.routes.log.lines(with: "critical ALARM")
        #expect(alarms.count == 1 && alarms.first?.contains("failed its self-test") == true)
        #expect(machine.routes.scrape()[#"offer_signer_self_verification_failures_total{key="TESTKEY123"}"#] == 1)
    }

    @Test(
        "readiness fails while an active key cannot sign or verify, and recovers without a restart",
        arguments: FaultyKeyPair.Step.allCases, [true, false])
    fileprivate func unable(step: FaultyKeyPair.Step, isRequested: Bool) async throws {
        let pair = try FaultyKeyPair()
        let machine = try Machine(pair: pair)
        await machine.pass(seconds: 60)
        pair.set(failing: step)
        // Either a request or the self-test notices it.
        if isRequested { #expect(machine.routes.post("/offer", Self.sample).status == 503) }
        await machine.pass(seconds: isRequested ? 1 : 60)
        await machine.pass(seconds: 1)
        let answer = machine.routes.get("/health/ready")
        #expect(answer.status == 503 && Self.checks(answer)["keys"] == "failed")
        let fault = step == .signing ? "cannot sign" : "cannot verify its signatures"
        #expect(answer.json["problems"] as? [String] == ["key TESTKEY123 \(fault) (out of memory)"])
        #expect(machine.routes.scrape()["offer_signer_ready"] == 0)
        pair.set(failing: nil)
        await machine.pass(seconds: 1)
        #expect(machine.routes.get("/health/ready").json["status"] as? String == "ready")
        #expect(machine.routes.post("/offer", Self.sample).status == 200)
        #expect(machine.routes.log.text.ranges(of: "error \(step) failed").count == 1)
        #expect(machine.routes.log.text.contains("the key signs again"))
        #expect(!machine.routes.log.text.contains("ALARM"))
    }

    @Test("a self-test failure at run time stops signing until restart", arguments: [true, false])
    func selfTest(takes: Bool) async throws {
        let machine = try Machine()
        #expect(machine.routes.post("/offer", Self.sample).status == 200)
        machine.verify(allAs: takes)
        await machine.pass(seconds: 59)
        #expect(machine.routes.get("/health/ready").status == 200, "the self-test runs once a minute")
        await machine.pass(seconds: 1)
        for path in ["/offer", "/v1/promotional-offers", "/v1/introductory-offers", "/v1/advanced-commerce"] {
            let answer = machine.routes.post(path, Self.sample)
            #expect(answer.status == 503)
            #expect(answer.json["code"] as? String == "signing_unavailable")
        }
        machine.verify(allAs: nil)
        await machine.pass(seconds: 120)
        let answer = machine.routes.get("/health/ready")
        #expect(answer.status == 503)
        #expect(answer.json["code"] as? String == "not_ready")
        #expect(Self.checks(answer)["selfTest"] == "failed" && Self.checks(answer)["keys"] == "ok")
        #expect(machine.routes.log.text.contains("error nothing is signed because the cryptography"))
        #expect(machine.routes.get("/health/live").status == 200)
        #expect(machine.routes.post("/offer", Self.sample).status == 503)
    }

    @Test("while the cryptography cannot be tested, readiness fails, and it recovers without a restart")
    func untested() async throws {
        let machine = try Machine()
        machine.failVerifications()
        await machine.pass(seconds: 60)
        let answer = machine.routes.get("/health/ready")
        #expect(answer.status == 503 && Self.checks(answer)["selfTest"] == "failed")
        #expect((answer.json["problems"] as? [String])?.first?.hasPrefix("the cryptography cannot be tested") == true)
        #expect(machine.routes.scrape()["offer_signer_ready"] == 0)
        #expect(machine.routes.post("/offer", Self.sample).status == 200, "each signature is verified all the same")
        await machine.pass(seconds: 1)
        #expect(machine.routes.get("/health/ready").status == 503)
        machine.verify(allAs: nil)
        await machine.pass(seconds: 1)
        #expect(machine.routes.get("/health/ready").json["status"] as? String == "ready")
        // A wrong answer is final, even after an error.
        machine.failVerifications()
        await machine.pass(seconds: 60)
        machine.verify(allAs: true)
        await machine.pass(seconds: 1)
        machine.verify(allAs: nil)
        await machine.pass(seconds: 120)
        #expect(machine.routes.get("/health/ready").status == 503)
        #expect(machine.routes.post("/offer", Self.sample).status == 503)
    }

    // MARK: The audit trail

    /// A trail in memory that counts its checks.
    private final class CountedStore: AuditStore {
        let checks: NIOLockedValueBox<Int>

        init(_ checks: NIOLockedValueBox<Int>) {
            self.checks = checks
        }

        var problems: [Diagnostic] { [] }
        var head: AuditChain { .beginning }

        func takeFindings() -> [AuditFinding] { [] }

        func append(_ write: (inout [UInt8], inout AuditChain) throws -> Void) throws(AuditFault) {}

        func checkLines() { checks.withLockedValue { $0 += 1 } }
    }

    @Test("the trail is checked every minute, and its head is logged every hour, even if nothing is signed")
    func trail() async throws {
        let (checks, steady, log) = (NIOLockedValueBox(0), NIOLockedValueBox(ContinuousClock.now), RecordedLog())
        let trail = try await AuditTrail(
            store: CountedStore(checks), codes: AuditCodes(customer: { $0 }), now: { Fixtures.timestamp },
            readiness: Readiness(), metrics: ServiceMetrics().audit, log: log.logger)
        let monitor = HealthMonitor(
            selfTest: try SelfTest(.test { _ in }), keys: try TestService().keyHealth,
            trail: trail, clock: Self.clock, now: { Fixtures.timestamp },
            steadyNow: { steady.withLockedValue { $0 } }, readiness: Readiness(), metrics: ServiceMetrics(),
            log: log.logger)
        for minute in 1...60 {
            steady.withLockedValue { $0 += .seconds(59) }
            await monitor.check()
            steady.withLockedValue { $0 += .seconds(1) }
            await monitor.check()
            try await waitUntil { checks.withLockedValue { $0 } == minute }
        }
        // One line at startup and one after an hour.
        try await waitUntil { log.text.ranges(of: "audit trail head").count == 2 }
    }

    // MARK: The clock

    @Test(
        "a clock step of more than two seconds degrades readiness for ten minutes and is logged once",
        arguments: [-1, 1])
    func step(direction: Int64) async throws {
        let machine = try Machine()
        await machine.pass(seconds: 1)
        await machine.pass(seconds: 1, setBy: 2000 * direction)
        #expect(Self.checks(machine.routes.get("/health/ready"))["clock"] == "ok", "a leap second is tolerated")
        await machine.pass(seconds: 1, setBy: 2001 * direction)
        let answer = machine.routes.get("/health/ready")
        #expect(answer.status == 200)
        #expect(answer.json["status"] as? String == "degraded")
        #expect(Self.checks(answer)["clock"] == "degraded")
        let told =
            direction > 0 ? "00:00:05.000Z to 2026-01-01T00:00:07.001Z" : "00:00:01.000Z to 2025-12-31T23:59:58.999Z"
        #expect(machine.routes.log.text.contains("error the clock was set from 2026-01-01T\(told)"))
        #expect(machine.routes.scrape()["offer_signer_clock_steps_total"] == 1)
        #expect(machine.routes.post("/offer", Self.sample).status == 200)
        for _ in 0..<59 { await machine.pass(seconds: 10) }
        await machine.pass(seconds: 9)
        #expect(Self.checks(machine.routes.get("/health/ready"))["clock"] == "degraded")
        await machine.pass(seconds: 1)
        #expect(machine.routes.get("/health/ready").json["status"] as? String == "ready")
        #expect(machine.routes.log.text.ranges(of: "error ").count == 1)
    }

    @Test("NTP slewing and machine suspension do not count as clock steps")
    func noStep() async throws {
        let machine = try Machine()
        await machine.pass(seconds: 1)
        // chrony slews by at most 83 ms per second, which adds up to five minutes in an hour.
        for _ in 0..<3600 { await machine.pass(seconds: 1, setBy: 83) }
        await machine.pass(seconds: 8 * 3600)
        #expect(machine.routes.get("/health/ready").json["status"] as? String == "ready")
        #expect(machine.routes.scrape()["offer_signer_clock_steps_total"] == 0)
    }

    @Test("no route signs anything while the clock is earlier than the build date")
    func beforeBuild() async throws {
        let machine = try Machine()
        let bodies = [
            "/offer": Self.sample,
            "/v1/promotional-offers": #"{"bundleID":"a","productID":"p","offerID":"o","applicationUsername":""}"#,
            "/v1/introductory-offers":
                #"{"bundleID":"a","productID":"p","allowIntroductoryOffer":true,"transactionID":"1"}"#,
            "/v1/advanced-commerce": #"{"bundleID":"a","request":{"a":1}}"#,
        ]
        // One millisecond too early.
        machine.set(by: Self.clock.earliest.milliseconds - Fixtures.timestamp.milliseconds - 1)
        for look in 0..<3 {
            for (path, body) in bodies {
                let answer = machine.routes.post(path, body)
                #expect(answer.status == 503 && answer.retryAfter == 30)
                #expect(answer.json["code"] as? String == "clock_wrong")
            }
            let offer = try OfferRequest(OfferRouteTests.object(Array(Self.sample.utf8)), spelling: .command)
            #expect(throws: Problem.clockWrong) { try machine.routes.signer.signForCommand(offer) }
            let ready = machine.routes.get("/health/ready")
            #expect(ready.status == 503, "whether or not the health checks have run")
            #expect(ready.json["code"] as? String == "clock_wrong" && Self.checks(ready)["clock"] == "failed")
            #expect(machine.routes.scrape()["offer_signer_ready"] == 0)
            await machine.pass(seconds: look == 2 ? 1 : 0)
        }
        for (path, body) in bodies { #expect(machine.routes.post(path, body).status == 200) }
        await machine.pass(seconds: 1)
        #expect(machine.routes.get("/health/ready").json["status"] as? String == "ready")
        let lines = machine.routes.log.lines(with: "before this version was built")
        #expect(lines.count == 2, "once when the problem appeared and once when it was resolved")
    }

    @Test("correcting a wrong clock counts as a clock step")
    func comesRight() async throws {
        let machine = try Machine()
        machine.set(by: -86_400_000 * 365)
        await machine.pass(seconds: 1)
        #expect(machine.routes.get("/health/ready").status == 503)
        await machine.pass(seconds: 1, setBy: 86_400_000 * 365)
        #expect(machine.routes.post("/offer", Self.sample).status == 200)
        #expect(machine.routes.get("/health/ready").json["status"] as? String == "degraded")
    }
}
