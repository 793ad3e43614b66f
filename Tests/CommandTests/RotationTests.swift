import Foundation
import OfferCore
import OfferCrypto
import TestSupport
import Testing

/// Key changes while offers are signed over eight connections. Every response is verified.
@Suite("Rotation under load", .timeLimit(.minutes(5)))
struct RotationTests {
    private let service: RunningService
    private let load = OfferLoad()

    init() throws {
        service = try RunningService()
        load.expect(service.verifyingKey, as: RunningService.keyID)
    }

    /// Registers a new key with the load, and then creates its file.
    private func drop(_ keyID: String) throws {
        let pem = try PrivateKeyPEM.generate()
        load.expect(try SigningKey(text: pem).verifyingKey, as: keyID)
        try service.keys.drop(pem, as: "SubscriptionKey_\(keyID).p8")
    }

    private static func expectAnswer(
        by keyID: String, in load: OfferLoad, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let hasCome = try await load.waitForAnswer(by: keyID)
        #expect(hasCome, "no answer signed by \(keyID)", sourceLocation: sourceLocation)
    }

    private func expectNoFailures(sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(load.failures == [], sourceLocation: sourceLocation)
    }

    /// The `status` and `problems` of `/health/ready`, except for the problem that no caller is configured.
    private static func readiness(of service: RunningService) async throws -> (status: String, problems: [String]) {
        let json = try await service.get("/health/ready").json
        let problems = json["problems"] as? [String] ?? []
        return (json["status"] as? String ?? "", problems.filter { !$0.hasPrefix("no caller is configured") })
    }

    /// Waits until `/health/ready` reports `count` problems, and returns the problems.
    private static func waitForProblems(_ count: Int, of service: RunningService) async throws -> [String] {
        var problems: [String] = []
        try await waitUntil {
            problems = try await readiness(of: service).problems
            return problems.count == count
        }
        return problems
    }

    @Test("20 rotations by SIGHUP lose no request")
    func bySignal() async throws {
        try await load.run(port: service.port) {
            try await Self.expectAnswer(by: RunningService.keyID, in: load)
            for number in 10..<30 {
                let keyID = "ROTATION\(number)"
                try drop(keyID)
                try service.reload(keyID: keyID)
                try await Self.expectAnswer(by: keyID, in: load)
            }
        }
        expectNoFailures()
        #expect(load.answers.count == 21)
        #expect(service.stop() == 0)
    }

    @Test("20 rotations lose no request when the key file arrives after the configuration")
    func byFile() async throws {
        try await load.run(port: service.port) {
            for number in 10..<30 {
                let keyID = "ROTATION\(number)"
                try service.reload(keyID: keyID)
                _ = try await Self.waitForProblems(1, of: service)
                try drop(keyID)
                try await Self.expectAnswer(by: keyID, in: load)
            }
        }
        expectNoFailures()
        #expect(load.answers.count == 21)
        #expect(try await Self.readiness(of: service).problems == [])
        #expect(service.stop() == 0)
    }

    @Test("tables are precomputed only for signing keys, once each time a key becomes active")
    func prepared() async throws {
        let service = try RunningService(arguments: ["--log-level", "debug"]) { keys in
            for id in ["SECONDKEY1", "STANDBYKEY"] {
                try keys.write(PrivateKeyPEM.generate(), to: "SubscriptionKey_\(id).p8")
            }
        }
        func prepared() throws -> [String] {
            try service.log.matches(of: /key precomputed keyID="([A-Z0-9]+)"/).map { String($0.output.1) }
        }
        try await waitUntil { try prepared() == [RunningService.keyID] }
        try service.reload(keyID: "SECONDKEY1")
        try await waitUntil { try prepared() == [RunningService.keyID, "SECONDKEY1"] }
        try service.reload()
        // A key releases its tables when it stops signing.
        let all = [RunningService.keyID, "SECONDKEY1", RunningService.keyID]
        try await waitUntil { try prepared() == all }
        // The second reload shows that the first is complete.
        for count in [4, 5] {
            try service.reload()
            try await waitUntil { try service.log.ranges(of: "keys in force").count == count }
        }
        #expect(try prepared() == all)
        #expect(service.stop() == 0)
    }

    @Test("broken keys are logged once, degrade readiness until removed, and are never used")
    func brokenKeys() async throws {
        try await load.run(port: service.port) {
            for broken in BrokenKeyFile.all { try broken.place(in: service.keys) }
            let problems = try await Self.waitForProblems(BrokenKeyFile.all.count, of: service)
            #expect(try await Self.readiness(of: service).status == "degraded")
            for broken in BrokenKeyFile.all {
                let told = problems.filter { $0.contains(service.keys.path + "/" + broken.name) }
                #expect(told.count == 1 && told.first?.contains(broken.reason) == true, "\(broken.name): \(told)")
            }
            // Choosing a broken key does not change the signing key.
            try service.reload(keyID: "MISMATCHED")
            try await Task.sleep(for: .seconds(2))
            for broken in BrokenKeyFile.all { try service.keys.remove(broken.name) }
            _ = try await Self.waitForProblems(1, of: service)
            try service.reload()
            _ = try await Self.waitForProblems(0, of: service)
        }
        expectNoFailures()
        #expect(load.answers.keys.elementsEqual([RunningService.keyID]))
        let log = try service.log
        for broken in BrokenKeyFile.all {
            let lines = log.split(separator: "\n").filter {
                $0.contains(" error ") && $0.contains("/\(broken.name)") && $0.contains(broken.reason)
            }
            #expect(lines.count == 1, "\(broken.name): \(lines)")
        }
        #expect(service.stop() == 0)
    }

    @Test("the signing key keeps signing after its file is deleted, replaced or exposed, and the problem is reported")
    func activeFileGone() async throws {
        let pem = try service.keys.read(RunningService.keyFile)
        try await load.run(port: service.port) {
            try service.keys.remove(RunningService.keyFile)
            #expect(try await Self.waitForProblems(1, of: service).first?.contains("is gone") == true)
            try service.keys.write(Array("no key".utf8), to: RunningService.keyFile)
            try await waitUntil { try await Self.readiness(of: service).problems[0].contains("is not PEM") }
            #expect(try await Self.readiness(of: service).problems.first?.contains("is not PEM") == true)
            try service.keys.drop(pem, as: RunningService.keyFile)
            _ = try await Self.waitForProblems(0, of: service)
            try service.keys.drop(pem, as: RunningService.keyFile, mode: 0o644)
            #expect(try await Self.waitForProblems(1, of: service).first?.contains("read by others") == true)
        }
        expectNoFailures()
        #expect(service.stop() == 0)
    }

    @Test("another key under the signing key's ID is not used until SIGHUP, and both fingerprints are reported")
    func activeFileReplaced() async throws {
        let old = try SigningKey(text: service.keys.read(RunningService.keyFile)).fingerprint
        let pem = try PrivateKeyPEM.generate()
        let new = try SigningKey(text: pem).fingerprint
        try await load.run(port: service.port) {
            try service.keys.drop(pem, as: RunningService.keyFile)
            let problem = try #require(try await Self.waitForProblems(1, of: service).first)
            #expect(problem.contains("now contains another key") && problem.contains(old) && problem.contains(new))
            #expect(try await Self.readiness(of: service).status == "degraded")
            // The load verifies every answer with the old key.
            try await Self.expectAnswer(by: RunningService.keyID, in: load)
        }
        expectNoFailures()
        #expect(try service.log.contains("now contains another key"))
        try service.reload()
        _ = try await Self.waitForProblems(0, of: service)
        let next = OfferLoad()
        next.expect(try SigningKey(text: pem).verifyingKey, as: RunningService.keyID)
        try await next.run(port: service.port) { try await Self.expectAnswer(by: RunningService.keyID, in: next) }
        #expect(next.failures == [])

        // A fingerprint that the key does not have changes nothing.
        try service.reload("SUBSCRIPTION_OFFERS_KEY_FINGERPRINT=\(old)")
        #expect(try await Self.waitForProblems(1, of: service).first?.contains("has the fingerprint \(new)") == true)
        #expect(service.stop() == 0)
    }

    @Test("a key file written in two halves is neither refused nor missed")
    func twoHalves() async throws {
        let pem = try PrivateKeyPEM.generate()
        load.expect(try SigningKey(text: pem).verifyingKey, as: "TWOHALVES1")
        try await load.run(port: service.port) {
            try service.keys.write(pem.prefix(120), to: "SubscriptionKey_TWOHALVES1.p8")
            try service.reload(keyID: "TWOHALVES1")
            // The missing key is reported. KeyFolderWatcherTests cover the timing of these reports.
            _ = try await Self.waitForProblems(1, of: service)
            try service.keys.write(pem, to: "SubscriptionKey_TWOHALVES1.p8")
            _ = try await Self.waitForProblems(0, of: service)
            try await Self.expectAnswer(by: "TWOHALVES1", in: load)
        }
        expectNoFailures()
        #expect(service.stop() == 0)
    }

    @Test("a retired key never signs again, whatever the configuration says")
    func retired() async throws {
        try await load.run(port: service.port) {
            try drop("SUCCESSOR1")
            try service.reload(keyID: "SUCCESSOR1", "SUBSCRIPTION_OFFERS_RETIRED_KEY_IDS=\(RunningService.keyID)")
            try await Self.expectAnswer(by: "SUCCESSOR1", in: load)
            try service.reload()
            #expect(try await Self.waitForProblems(1, of: service).first?.contains("it has been retired") == true)
            try await Self.expectAnswer(by: "SUCCESSOR1", in: load)
        }
        expectNoFailures()
        #expect(service.stop() == 0)
    }

    @Test("an invalid configuration changes nothing, and the next valid one is applied")
    func brokenConfiguration() async throws {
        try await load.run(port: service.port) {
            try drop("SUCCESSOR1")
            for settings in [
                "SUBSCRIPTION_OFFERS_KEY_ID",
                "SUBSCRIPTION_OFFERS_TRUSTED_PROXIES=x\nSUBSCRIPTION_OFFERS_KEY_ID=SUCCESSOR1",
                "",
            ] {
                try service.reload(keyID: nil, settings)
                _ = try await Self.waitForProblems(1, of: service)
                try await Self.expectAnswer(by: RunningService.keyID, in: load)
            }
            try service.reload(keyID: "SUCCESSOR1")
            try await Self.expectAnswer(by: "SUCCESSOR1", in: load)
            _ = try await Self.waitForProblems(0, of: service)
        }
        expectNoFailures()
        #expect(service.stop() == 0)
    }

    @Test("after kill -9, the next process signs with the same keys")
    func killed() async throws {
        try await load.run(port: service.port) {
            try await Self.expectAnswer(by: RunningService.keyID, in: load)
            service.killAtOnce()
        }
        #expect(Set(load.failures).isSubset(of: ["a connection ended"]))
        let next = try RunningService(keys: service.keys)
        let secondLoad = OfferLoad()
        secondLoad.expect(service.verifyingKey, as: RunningService.keyID)
        try await secondLoad.run(port: next.port) {
            try await Self.expectAnswer(by: RunningService.keyID, in: secondLoad)
        }
        #expect(secondLoad.failures == [])
        #expect(next.stop() == 0)
    }

    @Test("with --reuse-port, a second process starts beside the first and takes over")
    func besideEachOther() async throws {
        let first = try RunningService(arguments: ["--reuse-port"], keys: service.keys)
        let port = ["--port", "\(first.port)"]
        #expect(throws: RunningProgram.DidNotStart.self) { try RunningService(arguments: port, keys: service.keys) }
        let second = try RunningService(arguments: ["--reuse-port"] + port, keys: service.keys)
        #expect(first.stop() == 0)
        try await load.run(port: second.port) {
            try await Self.expectAnswer(by: RunningService.keyID, in: load)
        }
        expectNoFailures()
        #expect(second.stop() == 0)
    }

    @Test("a hung disk delays neither offers nor shutdown")
    func hangingDisk() async throws {
        let folder = try TemporaryFolder()
        let library = folder.path + "/hanging.so"
        try Command.compile("HangingDisk", to: library)
        let hanging = try RunningService(
            environment: ["LD_PRELOAD": library, "HANG": folder.path + "/hang"], keys: service.keys)
        try folder.write([], to: "hang")
        try hanging.reload()
        try await load.run(port: hanging.port) {
            let problems = try await Self.waitForProblems(1, of: hanging)
            #expect(problems.first?.contains("longer than five seconds") == true)
        }
        expectNoFailures()
        #expect(hanging.stop() == 0)
    }

    @Test(
        "SIGTERM ends the process at any point during startup", arguments: [1, 20, 40, 60, 80, 100, 150, 200])
    func stopWhileStarting(milliseconds: Int) async throws {
        let keys = service.keys
        for number in 100..<300 where milliseconds == 1 {
            try keys.write(PrivateKeyPEM.generate(), to: "SubscriptionKey_STANDBY\(number).p8")
        }
        let stopped = try Command.run(
            "bash",
            [
                "-c",
                """
                \(Command.offerSigner) serve --port 0 --key-id \(RunningService.keyID) --keys-dir \(keys.path) & service=$!
                sleep \(Double(milliseconds) / 1000); kill $service
                for ((second = 0; second < 20; second++)); do kill -0 $service 2>/dev/null || break; sleep 1; done
                kill -9 $service 2>/dev/null && exit 99
                wait $service
                """,
            ])
        // A signal that arrives before the process has run any code kills it.
        #expect([0, 143].contains(stopped.status))
    }

    @Test(
        "after SIGTERM, half-sent requests are answered and readiness fails, and a second SIGTERM is harmless"
    )
    func stopWithHalfRequests() async throws {
        let request = Array(BadRequest.goodPost.utf8)
        let port = service.port
        let isRead = AsyncStream.makeStream(of: Void.self)
        let isStopping = (0..<9).map { _ in AsyncStream.makeStream(of: Void.self) }
        let statuses = try await withThrowingTaskGroup(of: Int?.self) { group in
            for number in 0..<8 {
                // Some requests stop within the head, others within the body.
                let half = request.count * (2 * number + 1) / 16
                group.addTask {
                    try await Connection.open(port: port) { connection in
                        try await connection.send(Array(request.prefix(half)))
                        // Once each event loop has answered another request, it has read the first part of this one.
                        for _ in 0..<8 {
                            _ = try await service.get("/health/live")
                        }
                        isRead.continuation.yield()
                        for await _ in isStopping[number].stream { break }
                        try await connection.send(Array(request.dropFirst(half)))
                        return try await connection.receive()?.status
                    }
                }
            }
            group.addTask {
                try await Connection.open(port: port) { connection in
                    #expect(try await connection.get("/health/ready")?.status == 200)
                    try await connection.send("GET /health/ready HTTP/1.1\r\nHo")
                    isRead.continuation.yield()
                    for await _ in isStopping[8].stream { break }
                    try await connection.send("st: a\r\n\r\n")
                    return try await connection.receive()?.status
                }
            }
            var begun = isRead.stream.makeAsyncIterator()
            for _ in 0..<9 { await begun.next() }
            service.terminate()
            // Longer than the time for a request to begin after SIGTERM (`TimeLimit.stopGrace`).
            try await Task.sleep(for: .milliseconds(1500))
            service.terminate()
            for stream in isStopping { stream.continuation.yield() }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses.filter { $0 == 200 }.count == 8)
        #expect(statuses.filter { $0 == 503 }.count == 1, "the readiness request")
        #expect(service.stop() == 0)
    }

    @Test("SIGHUP applies a new issuer ID, but an invalid ID changes nothing")
    func issuerID() async throws {
        let (first, second) = (Fixtures.issuerText, Fixtures.nonceText)
        func issuer() async throws -> String {
            let body = #"{"bundleID":"a","productID":"p","allowIntroductoryOffer":true,"transactionID":"1"}"#
            let json = try await service.post("/v1/introductory-offers", body).json
            guard let text = json["compactJWS"] as? String else { return json["code"] as? String ?? "" }
            return try CompactJWS(Array(text.utf8)).content.issuerID.uuid.description
        }
        #expect(try await issuer() == "issuer_id_missing")
        for id in [first, second] {
            try service.reload("SUBSCRIPTION_OFFERS_ISSUER_ID=\(id)")
            try await waitUntil { try await issuer() == id }
        }
        try service.reload("SUBSCRIPTION_OFFERS_ISSUER_ID=none")
        _ = try await Self.waitForProblems(1, of: service)
        #expect(try await issuer() == second)
        try service.configure(
            "apps:\n- {bundleID: a, issuerID: \(first), products: [{productID: p, offers: []}]}")
        try service.reload("SUBSCRIPTION_OFFERS_ISSUER_ID=\(second)", service.configurationSetting)
        // An app's own issuer ID takes precedence.
        try await waitUntil { try await issuer() == first }
    }
}
