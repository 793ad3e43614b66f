import Foundation
import NIOConcurrencyHelpers
import OfferCrypto
import TestSupport
import Testing

/// Faults of tokens while offers are signed. No wrong signature is sent, keys in files are not affected, and everything recovers.
@Suite("Faults of tokens", .serialized, .timeLimit(.minutes(5)))
struct TokenFaultTests {
    private let token: SoftHSM
    private let folder: TemporaryFolder
    private let keys: TemporaryFolder
    /// A module that forwards to SoftHSM, except for one fault.
    private let faulty: String
    /// Offers of the app "file", whose key is in a file.
    private let files = OfferLoad(app: "file")

    init() throws {
        token = try SoftHSM()
        folder = try TemporaryFolder()
        keys = try RunningService.makeKeys()
        faulty = folder.path + "/faulty.so"
        try Command.compile("FaultyModule", to: faulty)
        try set(fault: "none")
        #expect(try token.importKey(keys.path + "/" + RunningService.keyFile).status == 0)
        try keys.write(PrivateKeyPEM.generate(), to: "SubscriptionKey_OTHERKEY12.p8")
        let pem = try PrivateKeyPEM.generate()
        try keys.write(pem, to: "SubscriptionKey_FILEKEY123.p8")
        files.expect(try SigningKey(text: pem).verifyingKey, as: "FILEKEY123")
    }

    private func set(fault: String) throws { try folder.drop(fault.utf8, as: "fault") }

    private var environment: [String: String] {
        token.environment.merging([
            "OFFER_TEST_FAULT": folder.path + "/fault", "OFFER_TEST_LOGINS": folder.path + "/logins",
            "OFFER_TEST_SESSIONS": folder.path + "/sessions",
            // The app "file" has a key in a file.
            "SUBSCRIPTION_OFFERS_BUNDLE_KEY_IDS": "file=FILEKEY123",
        ]) { $1 }
    }

    private func serve(
        _ ids: String = RunningService.keyID, module: String? = nil, environment: [String: String] = [:]
    ) throws -> RunningService {
        try folder.write(token.configuration(ids, module: module ?? faulty).utf8, to: "config.yaml")
        return try RunningService(
            arguments: ["--config", folder.path + "/config.yaml"],
            environment: self.environment.merging(environment) { $1 }, keys: keys)
    }

    private static func body(of app: String) -> String {
        #"{"appBundleID":"\#(app)","productIdentifier":"p","offerID":"o","applicationUsername":"u"}"#
    }

    private static func status(_ service: RunningService, _ app: String = "a") async throws -> Int {
        try await service.post("/offer", body(of: app)).status
    }

    private static func waitForStatus(_ status: Int, of service: RunningService) async throws {
        try await waitUntil { try await Self.status(service) == status }
    }

    private func load(for service: RunningService) -> OfferLoad {
        let load = OfferLoad()
        load.expect(service.verifyingKey, as: RunningService.keyID)
        return load
    }

    /// Runs a load of offers with a key in the token beside one with a key in a file, while `body` runs.
    private func run(
        _ load: OfferLoad, of service: RunningService, during body: @escaping @Sendable () async throws -> Void
    ) async throws {
        let isOver = NIOLockedValueBox(false)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [files] in
                try await files.run(port: service.port) { try await waitUntil { isOver.withLockedValue { $0 } } }
            }
            group.addTask {
                defer { isOver.withLockedValue { $0 = true } }
                try await load.run(port: service.port, during: body)
            }
            try await group.waitForAll()
        }
        #expect(files.failures == [])
    }

    private var fileCount: Int { files.answers["FILEKEY123", default: 0] }

    /// Waits until offers with the key in a file are signed, which a fault of the token must not prevent.
    private func waitForFiles() async throws {
        let count = fileCount
        try await waitUntil { fileCount > count + 50 }
    }

    /// Expects that every failed answer under load was 503.
    private func expectOnlyRefusals(_ load: OfferLoad, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(load.failures.filter { !$0.hasPrefix("status 503") } == [], sourceLocation: sourceLocation)
    }

    @Test("the signature of another key is never sent, and the key is out of service")
    func otherKey() async throws {
        #expect(try token.importKey(keys.path + "/SubscriptionKey_OTHERKEY12.p8").status == 0)
        let service = try serve()
        let load = load(for: service)
        try await run(load, of: service) {
            try await Self.waitForStatus(200, of: service)
            try set(fault: "other")
            try await Self.waitForStatus(503, of: service)
            try await waitForFiles()
            try set(fault: "none")
        }
        expectOnlyRefusals(load)
        #expect(try service.log.contains("ALARM: a signature from a token did not verify"))
        #expect(try await service.health.contains("is out of service"))
        #expect(try await Self.status(service) == 503)
        #expect(try await Self.status(service, "file") == 200)
        #expect(service.stop() == 0)
    }

    @Test("only a service with keys in tokens has threads for them")
    func noThreads() async throws {
        func threads(of service: RunningService) throws -> [String] {
            let tasks = "/proc/\(service.processIdentifier)/task"
            return try FileManager.default.contentsOfDirectory(atPath: tasks).compactMap { task in
                try? String(contentsOfFile: "\(tasks)/\(task)/comm", encoding: .utf8)
            }.filter { $0.hasPrefix("token") }
        }
        let ofFiles = try RunningService(keys: keys)
        #expect(try await Self.status(ofFiles) == 200)
        #expect(try threads(of: ofFiles) == [])
        #expect(ofFiles.stop() == 0)
        let ofToken = try serve()
        try await Self.waitForStatus(200, of: ofToken)
        #expect(try !threads(of: ofToken).isEmpty)
        #expect(ofToken.stop() == 0)
    }

    @Test("while a module hangs, its requests get 503, and those of files are answered; then it recovers")
    func hangingModule() async throws {
        let service = try serve()
        let load = load(for: service)
        try await run(load, of: service) {
            try await Self.waitForStatus(200, of: service)
            try set(fault: "hang")
            try await Self.waitForStatus(503, of: service)
            try await waitForFiles()
            try await waitUntil { try await service.health.contains("the token does not answer in time") }
            let metrics = try await service.get("/metrics").text
            #expect(try Self.refusals("no_answer", in: metrics) > 0)
            try set(fault: "none")
            try await Self.waitForStatus(200, of: service)
            try await waitUntil { try service.log.contains("the key signs again") }
        }
        expectOnlyRefusals(load)
        #expect(service.stop() == 0)
    }

    @Test(
        "a module that hangs while it starts or logs in holds up neither a start nor a reload",
        arguments: ["initialize", "login"])
    func hangingStart(function: String) async throws {
        try set(fault: function + " waits")
        let refusal = #expect(throws: RunningProgram.DidNotStart.self) { try serve() }
        #expect(try #require(refusal).log.contains("cannot sign: the token does not answer in time"))

        let service = try RunningService(environment: environment, keys: keys)
        try service.configure(token.configuration(RunningService.keyID, module: faulty))
        try service.reload(service.configurationSetting)
        try await waitUntil { try await service.health.contains("the token does not answer in time") }
        // The keys that were read before stay in force.
        #expect(try await Self.status(service) == 200)
        #expect(try await Self.status(service, "file") == 200)
        try set(fault: "none")
        try await waitUntil {
            try service.reload(service.configurationSetting)
            #expect(try await Self.status(service) == 200)
            return try await TokenTests.tokenCount(of: service) > 0
        }
        #expect(service.stop() == 0)
    }

    @Test(
        "a module that hangs when it is finalized costs only its own requests, and does not delay the end of the service"
    )
    func hangingEnd() async throws {
        let service = try serve()
        #expect(try await Self.status(service) == 200)
        try set(fault: "finalize waits")
        // The token is lost, so the module is initialized again.
        try token.setPresent(false)
        try await Self.waitForStatus(503, of: service)
        try token.setPresent(true)
        for _ in 0..<20 {
            #expect(try await Self.status(service) == 503)
            #expect(try await Self.status(service, "file") == 200)
        }
        try set(fault: "none")
        try await Self.waitForStatus(200, of: service)
        try set(fault: "finalize waits")
        try token.setPresent(false)
        try await Self.waitForStatus(503, of: service)
        #expect(service.stop() == 0)
    }

    private static func refusals(_ reason: String, in metrics: String) throws -> Int {
        let line = metrics.split(separator: "\n").first {
            $0.hasPrefix(#"offer_signer_token_refusals_total{reason="\#(reason)"} "#)
        }
        return try #require(line?.split(separator: " ").last.flatMap { Int($0) })
    }

    @Test("a token that permits one session signs without a lost request")
    func oneSession() async throws {
        try set(fault: "single")
        let service = try serve()
        let load = load(for: service)
        try await run(load, of: service) {
            try await waitUntil { load.answers[RunningService.keyID, default: 0] > 300 }
        }
        #expect(load.failures == [])
        #expect(service.stop() == 0)
    }

    @Test("while a token permits no session at all, requests get 503; then it recovers")
    func noSession() async throws {
        let service = try serve()
        let load = load(for: service)
        try await run(load, of: service) {
            try await Self.waitForStatus(200, of: service)
            try set(fault: "full")
            // The sessions end with the token.
            try token.setPresent(false)
            try await Self.waitForStatus(503, of: service)
            try token.setPresent(true)
            try await waitUntil { try await service.health.contains("CKR_SESSION_COUNT") }
            #expect(try await Self.status(service) == 503)
            try await waitForFiles()
            try set(fault: "none")
            try await Self.waitForStatus(200, of: service)
        }
        expectOnlyRefusals(load)
        #expect(service.stop() == 0)
    }

    @Test("beyond what the token can do, requests are shed, not queued, and those of files are answered")
    func oversubscription() async throws {
        let service = try serve()
        try set(fault: "slow")
        let statuses = NIOLockedValueBox<[Int: Int]>([:])
        try await withThrowingTaskGroup(of: Void.self) { group in
            // The token has four sessions and a queue of 256.
            for _ in 0..<400 {
                group.addTask {
                    for _ in 0..<5 {
                        let status = try await Self.status(service)
                        statuses.withLockedValue { $0[status, default: 0] += 1 }
                    }
                }
            }
            for _ in 0..<20 {
                #expect(try await Self.status(service, "file") == 200)
                let metrics = try await service.get("/metrics").text
                let waiting = metrics.firstMatch(of: /offer_signer_token_waiting ([0-9]+)/)
                    .flatMap { Int($0.output.1) }
                #expect(try #require(waiting) <= 256)
            }
            try await group.waitForAll()
        }
        let counts = statuses.withLockedValue { $0 }
        #expect(Set(counts.keys) == [200, 503], "\(counts)")
        let metrics = try await service.get("/metrics").text
        #expect(try Self.refusals("full", in: metrics) + Self.refusals("waited", in: metrics) > 0)
        #expect(try Self.refusals("no_answer", in: metrics) == 0)
        // There were never more sessions than threads may use at a time.
        let sessions = String(decoding: try folder.read("sessions"), as: UTF8.self).split(separator: "\n").compactMap {
            Int($0)
        }
        #expect(sessions.max() == 4)
        #expect(try await Self.status(service) == 200)
        #expect(service.stop() == 0)
    }

    @Test("a wrong PIN is tried once, by the service, after SIGHUP, and by the next process")
    func wrongPIN() async throws {
        try token.write(pin: "99999999")
        try folder.write(token.configuration(RunningService.keyID, module: faulty).utf8, to: "config.yaml")
        try keys.write(PrivateKeyPEM.generate(), to: "SubscriptionKey_SPAREKEY12.p8")
        let service = try RunningService(
            arguments: ["--config", folder.path + "/config.yaml", "--key-id", "FILEKEY123"], environment: environment,
            keys: keys)
        #expect(try service.log.contains("the token refused the PIN, which is not tried again"))
        #expect(logins == 1)
        for _ in 0..<3 {
            let count = try service.log.ranges(of: "reloading configuration").count
            try service.reload()
            try await waitUntil { try service.log.ranges(of: "reloading configuration").count > count }
        }
        try await Task.sleep(for: .seconds(3))
        #expect(logins == 1)
        let check = ["keys", "check", "--config", folder.path + "/config.yaml", "--keys-dir", keys.path]
        let other = try Command.runOfferSigner(check, environment: environment)
        #expect(other.status == 1 && other.standardError.contains("so the PIN is not tried"))
        // If the active key needs the PIN, the service ends with a status after which systemd does not start it again.
        let serve = try Command.runOfferSigner(
            ["serve", "--port", "0", "--key-id", RunningService.keyID] + check.dropFirst(2), environment: environment)
        #expect(serve.status == 78 && serve.standardError.contains("so the PIN is not tried"))
        #expect(logins == 1)
        // An operator can have the PIN tried once, in spite of what the token tells.
        for _ in 0..<2 {
            #expect(try Command.runOfferSigner(check + ["--try-pin"], environment: environment).status == 1)
        }
        #expect(logins == 2 && isRefusalNoted)

        try token.write(pin: SoftHSM.pin)
        try service.reload()
        try await waitUntil { logins == 3 }
        try await waitUntil { try await !service.health.contains("cannot sign") }
        #expect(try Command.runOfferSigner(check, environment: environment).status == 0)
        #expect(!isRefusalNoted)
        #expect(service.stop() == 0)
    }

    private var isRefusalNoted: Bool { FileManager.default.fileExists(atPath: token.pinFile + ".refused") }

    @Test("a wrong PIN that is found after a loss of the token is tried once, even by a load of requests")
    func wrongPINUnderLoad() async throws {
        try set(fault: "silent")
        let first = try P11KitServer(token, module: faulty, environment: environment)
        let service = try serve(module: P11KitServer.module, environment: first.environment)
        let load = load(for: service)
        let started = NIOLockedValueBox<P11KitServer?>(nil)
        try await run(load, of: service) {
            try await Self.waitForStatus(200, of: service)
            #expect(logins == 1)
            try token.write(pin: "99999999")
            first.kill()
            try await Self.waitForStatus(503, of: service)
            let second = try P11KitServer(token, module: faulty, socket: first.socket, environment: environment)
            started.withLockedValue { $0 = second }
            try await waitUntil { try await service.health.contains("the token refused the PIN") }
            try await Self.reload(service)
            try await waitForFiles()
            try await Task.sleep(for: .seconds(3))
            #expect(logins == 2 && isRefusalNoted)
            try token.write(pin: SoftHSM.pin)
            try await Self.waitForStatus(200, of: service)
            #expect(logins == 3 && !isRefusalNoted)
        }
        #expect(service.stop() == 0)
        started.withLockedValue { $0 }?.kill()
        #expect(load.failures.filter { !$0.hasPrefix("status 503") } == [])
    }

    private var logins: Int { (try? folder.lines("logins").count) ?? 0 }

    /// Starts a service whose active key is in a file.
    private func serveFile(_ configuration: String, _ environment: [String: String] = [:]) throws -> RunningService {
        try folder.drop(configuration.utf8, as: "config.yaml")
        try keys.write(PrivateKeyPEM.generate(), to: "SubscriptionKey_SPAREKEY12.p8")
        return try RunningService(
            arguments: ["--config", folder.path + "/config.yaml", "--key-id", "FILEKEY123"],
            environment: self.environment.merging(environment) { $1 }, keys: keys)
    }

    private static func reload(_ service: RunningService) async throws {
        let count = try service.log.ranges(of: "reloading configuration").count
        try service.reload()
        try await waitUntil { try service.log.ranges(of: "reloading configuration").count > count }
    }

    @Test("a login that fails for any reason is made once, if no login succeeded before")
    func failedLogin() async throws {
        try set(fault: "login5 silent")
        let configuration = token.configuration(RunningService.keyID, module: faulty)
        let service = try serveFile(configuration)
        #expect(try service.log.contains("C_Login failed with CKR_GENERAL_ERROR, and the PIN is not tried again"))
        try await Self.reload(service)
        try folder.drop(
            token.configuration(RunningService.keyID, module: faulty, sessions: 7).utf8, as: "config.yaml")
        try await Self.reload(service)
        try await Task.sleep(for: .seconds(3))
        #expect(logins == 1)
        #expect(service.stop() == 0)
        try await requireRecovery(configuration)
    }

    @Test("a login that fails because the device is lost is tried once more, and again after a restart")
    func lostDevice() async throws {
        try set(fault: "login48 silent")
        let configuration = token.configuration(RunningService.keyID, module: faulty)
        let service = try serveFile(configuration)
        try await waitUntil { logins == 2 }
        try await waitUntil {
            try await service.health.contains("C_Login failed with CKR_DEVICE_ERROR, and the PIN is not tried again")
        }
        try await Self.reload(service)
        try await Task.sleep(for: .seconds(3))
        #expect(logins == 2)
        #expect(service.stop() == 0)
        try await requireRecovery(configuration)
    }

    /// Requires that the next process logs in, once the token works.
    private func requireRecovery(_ configuration: String) async throws {
        #expect(!isRefusalNoted)
        let before = logins
        try set(fault: "silent")
        let next = try serveFile(configuration)
        #expect(try await !next.health.contains("cannot sign"))
        #expect(next.stop() == 0)
        #expect(logins == before + 1)
    }

    @Test("a wrong PIN is tried once, however many entries name the token, even if the token does not tell")
    func severalPlaces() async throws {
        try set(fault: "silent")
        #expect(try token.importKey(keys.path + "/SubscriptionKey_OTHERKEY12.p8").status == 0)
        try token.write(pin: "99999999")
        let entries = [
            token.configuration(RunningService.keyID, module: faulty),
            token.configuration("OTHERKEY12", module: faulty, sessions: 2).replacing("keys:\n", with: ""),
        ]
        let service = try serveFile(entries.joined())
        try await Task.sleep(for: .seconds(3))
        #expect(logins == 1)
        #expect(service.stop() == 0)
    }

    @Test("a wrong PIN of which the token does not tell is tried by no other process, whatever it does")
    func silentRefusal() async throws {
        try set(fault: "silent")
        try token.write(pin: "99999999")
        let service = try serveFile(token.configuration(RunningService.keyID, module: faulty))
        #expect(logins == 1)
        let note = token.pinFile + ".refused"
        #expect(try !String(contentsOfFile: note, encoding: .utf8).contains("99999999"))
        let mode = try FileManager.default.attributesOfItem(atPath: note)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(service.stop() == 0)

        let options = ["--config", folder.path + "/config.yaml", "--keys-dir", keys.path]
        func run(_ command: [String]) throws -> Command.Outcome {
            try Command.runOfferSigner(command + options, environment: environment)
        }
        let next = try serveFile(token.configuration(RunningService.keyID, module: faulty))
        try await Self.reload(next)
        next.killAtOnce()
        #expect(try run(["serve", "--port", "0", "--key-id", RunningService.keyID]).status == 78)
        #expect(try run(["keys", "list"]).standardError.contains("the token refused the PIN before (\(note) exists)"))
        #expect(try run(["doctor", "--key-id", "FILEKEY123"]).status == 1)
        let unchanged = try run(["keys", "check", "--try-pin"])
        #expect(unchanged.status == 1 && unchanged.standardError.contains("the PIN file has not changed"))
        let imported = try Command.runOfferSigner(
            ["keys", "import", keys.path + "/SubscriptionKey_OTHERKEY12.p8", "--token", "pkcs11:token=offers"]
                + ["--module", faulty, "--pin-file", token.pinFile], environment: environment)
        #expect(imported.status == 1 && imported.standardError.contains("exists), so the PIN is not tried"))
        // A file that was written again may contain the same PIN.
        try token.write(pin: "99999999")
        #expect(try run(["keys", "check"]).status == 1)
        #expect(logins == 1)

        try token.write(pin: SoftHSM.pin)
        #expect(try run(["keys", "check"]).status == 1)
        #expect(logins == 1)
        #expect(try run(["keys", "check", "--try-pin"]).status == 0)
        #expect(logins == 2 && !isRefusalNoted)
        let last = try serveFile(token.configuration(RunningService.keyID, module: faulty))
        #expect(try await !last.health.contains("cannot sign"))
        #expect(last.stop() == 0)
    }

    @Test(
        "a refusal is noted for each file that has the PIN, where the configuration says, or the log says that it is not"
    )
    func noteOfRefusal() async throws {
        try set(fault: "silent")
        #expect(try token.importKey(keys.path + "/SubscriptionKey_OTHERKEY12.p8").status == 0)
        try token.write(pin: "99999999")
        try folder.write("99999999\n".utf8, to: "copy")
        func configuration(note: String) -> String {
            token.configuration(RunningService.keyID, module: faulty)
                + token.configuration("OTHERKEY12", module: faulty).replacing("keys:\n", with: "")
                .replacing(token.pinFile, with: "\(folder.path)/copy\n    refusalFile: \(note)")
        }
        let unwritten = try serveFile(configuration(note: folder.path + "/none/note"))
        #expect(
            try unwritten.log.contains(
                "except by another process, because \(folder.path)/none/note cannot be written"))
        #expect(unwritten.stop() == 0)
        #expect(isRefusalNoted && logins == 1)
        try FileManager.default.removeItem(atPath: token.pinFile + ".refused")
        let written = try serveFile(configuration(note: folder.path + "/note"))
        #expect(written.stop() == 0)
        #expect(isRefusalNoted && logins == 2)
        #expect(FileManager.default.fileExists(atPath: folder.path + "/note"))
        let third = try serveFile(configuration(note: folder.path + "/note"))
        #expect(third.stop() == 0)
        #expect(logins == 2)
        try FileManager.default.removeItem(atPath: token.pinFile + ".refused")
        let imported = try Command.runOfferSigner(
            ["keys", "import", keys.path + "/SubscriptionKey_OTHERKEY12.p8", "--token", "pkcs11:token=offers"]
                + ["--module", faulty, "--pin-file", token.pinFile, "--refusal-file", folder.path + "/note"],
            environment: environment)
        #expect(imported.status == 1 && imported.standardError.contains("(\(folder.path)/note exists)"))
        #expect(logins == 2)
    }

    @Test("a wrong PIN is not tried again after another one was in the file")
    func alternatingPINs() async throws {
        try set(fault: "silent")
        try token.write(pin: "99999999")
        let service = try serveFile(token.configuration(RunningService.keyID, module: faulty))
        #expect(logins == 1)
        try token.write(pin: "88888888")
        try await Self.reload(service)
        try await waitUntil { logins == 2 }
        try token.write(pin: "99999999")
        try await Self.reload(service)
        try await Task.sleep(for: .seconds(3))
        #expect(logins == 2)
        try token.write(pin: SoftHSM.pin)
        try await Self.reload(service)
        try await waitUntil { logins == 3 }
        try await waitUntil { try await !service.health.contains("cannot sign") }
        #expect(service.stop() == 0)
    }

    @Test("a PIN that was right is used again, although somebody entered a wrong one since")
    func wrongPINOfAnother() async throws {
        let first = try P11KitServer(token)
        let service = try serve(module: P11KitServer.module, environment: first.environment)
        #expect(try await Self.status(service) == 200)
        let login = ["--module", SoftHSM.module, "--token-label", "offers", "--login", "--pin", "0000", "-O"]
        #expect(try Command.run("pkcs11-tool", login, environment: environment).status != 0)
        first.kill()
        try await Self.waitForStatus(503, of: service)
        let second = try P11KitServer(token, socket: first.socket)
        try await Self.waitForStatus(200, of: service)
        #expect(service.stop() == 0)
        second.kill()
    }

    @Test("a call that fails costs its own request, and no other")
    func failingCalls() async throws {
        let service = try serve()
        #expect(try await Self.status(service) == 200)
        try set(fault: "sign5")
        for _ in 0..<5 { #expect(try await Self.status(service) == 503) }
        try set(fault: "none")
        #expect(try await Self.status(service) == 200)
        // A session that fails three times in a row is closed. With the last one, the token logs the process out.
        #expect(logins <= 3)
        #expect(service.stop() == 0)
    }

    @Test("while one token of a module is gone, the other loses no request; and the first comes back under load")
    func twoTokens() async throws {
        try token.addToken("standby")
        let realPath = URL(filePath: SoftHSM.module).resolvingSymlinksInPath().path
        #expect(try token.importKey(keys.path + "/SubscriptionKey_OTHERKEY12.p8", to: "standby").status == 0)
        let entries = [
            token.configuration(RunningService.keyID),
            // Another path of the same module.
            token.configuration("OTHERKEY12", of: "standby", module: realPath).replacing("keys:\n", with: ""),
        ]
        try folder.write(entries.joined().utf8, to: "config.yaml")
        let service = try RunningService(
            arguments: ["--config", folder.path + "/config.yaml"],
            environment: environment.merging(["SUBSCRIPTION_OFFERS_BUNDLE_KEY_IDS": "file=OTHERKEY12"]) { $1 },
            keys: keys)
        let load = OfferLoad(app: "file")
        load.expect(
            try SigningKey(text: keys.read("SubscriptionKey_OTHERKEY12.p8")).verifyingKey, as: "OTHERKEY12")
        try await load.run(port: service.port) {
            try await Self.waitForStatus(200, of: service)
            try token.setPresent(false)
            try await Self.waitForStatus(503, of: service)
            try await Task.sleep(for: .seconds(2))
            try token.setPresent(true)
            try await Self.waitForStatus(200, of: service)
        }
        #expect(load.failures == [])
        #expect(service.stop() == 0)
    }

    @Test("after the token is removed and put back, the key signs again")
    func removedToken() async throws {
        let service = try serve(module: SoftHSM.module)
        let load = load(for: service)
        try await run(load, of: service) {
            try await Self.waitForStatus(200, of: service)
            try token.setPresent(false)
            try await Self.waitForStatus(503, of: service)
            try await waitForFiles()
            try token.setPresent(true)
            try await Self.waitForStatus(200, of: service)
        }
        expectOnlyRefusals(load)
        #expect(service.stop() == 0)
    }

    @Test("a key that was swapped in the token does not sign until an operator asks for it")
    func swappedKey() async throws {
        let service = try serve(module: SoftHSM.module)
        #expect(try await Self.status(service) == 200)
        let swapped = keys.path + "/SubscriptionKey_OTHERKEY12.p8"
        // A module may keep the old key until its sessions end. Either way, nothing is signed with the new one.
        let old = load(for: service)
        try await run(old, of: service) {
            try token.destroy(RunningService.keyID)
            #expect(try token.importKey(swapped, as: RunningService.keyID).status == 0)
            try await waitForFiles()
            try await Task.sleep(for: .seconds(1))
        }
        expectOnlyRefusals(old)
        try service.reload()
        let key = try SigningKey(text: keys.read("SubscriptionKey_OTHERKEY12.p8"))
        try await waitUntil {
            try service.log.contains("\(RunningService.keyID) (\(key.fingerprint.prefix(16)))")
        }
        let new = OfferLoad()
        new.expect(try key.verifyingKey, as: RunningService.keyID)
        try await new.run(port: service.port) {
            try await waitUntil { new.answers[RunningService.keyID, default: 0] > 100 }
        }
        #expect(new.failures == [])
        #expect(service.stop() == 0)
    }

    @Test("when the server of the module is killed under load, requests get 503, and then are signed again")
    func killedServer() async throws {
        let first = try P11KitServer(token)
        let service = try serve(module: P11KitServer.module, environment: first.environment)
        let load = load(for: service)
        try await run(load, of: service) {
            var server = first
            // Threads that wait for answers at the wrong moment must not hang in the module, which happened in one of ten kills.
            for _ in 0..<8 {
                try await Self.waitForStatus(200, of: service)
                server.kill()
                try await Self.waitForStatus(503, of: service)
                server = try P11KitServer(token, socket: first.socket)
            }
            try await Self.waitForStatus(200, of: service)
        }
        expectOnlyRefusals(load)
        #expect(service.stop() == 0)
    }

    @Test("a module that crashes in its server costs a request, not the service")
    func crashingModule() async throws {
        let server = try P11KitServer(token, module: faulty, environment: environment)
        defer { withExtendedLifetime(server) {} }
        let service = try serve(module: P11KitServer.module, environment: server.environment)
        let load = load(for: service)
        try await run(load, of: service) {
            try await Self.waitForStatus(200, of: service)
            try set(fault: "crash")
            try await Self.waitForStatus(503, of: service)
            try await waitForFiles()
            try set(fault: "none")
            try await Self.waitForStatus(200, of: service)
        }
        expectOnlyRefusals(load)
        #expect(service.isRunning)
        #expect(service.stop() == 0)
    }

    @Test("behind a server, neither the memory of the process nor a core file holds the private key")
    func memory() async throws {
        let number = try PrivateNumber.read(
            text: SecretBytes(copying: keys.read(RunningService.keyFile)))
        let bytes = number.withSpan { span in span.indices.map { span[$0] } }
        let server = try P11KitServer(token)
        try keys.remove(RunningService.keyFile)
        defer { withExtendedLifetime(server) {} }
        try folder.write(
            token.configuration(RunningService.keyID, module: P11KitServer.module).utf8, to: "config.yaml")
        let program = try RunningProgram(
            Command.offerSigner,
            ["serve", "--port", "0", "--keys-dir", keys.path, "--key-id", RunningService.keyID, "--config"]
                + [folder.path + "/config.yaml"], environment: environment.merging(server.environment) { $1 })
        let port = try program.port { $0.firstMatch(of: /127\.0\.0\.1:([0-9]+)/).flatMap { Int($0.output.1) } }
        for _ in 0..<50 {
            let answer = try await Connection.open(port: port) { connection in
                try await connection.post("/offer", json: Self.body(of: "a"))
            }
            #expect(answer?.status == 200)
        }
        // libcrypto keeps numbers with the lowest byte first.
        let needles = [bytes, bytes.reversed()]
        #expect(try !Self.memory(of: program, contains: needles))
        let core = try Self.coreFile(of: program, in: folder)
        #expect(!Self.contains(needles[0], core) && !Self.contains(needles[1], core))
        // Both scans find the key of a file in the same process.
        let fileNumber = try PrivateNumber.read(text: SecretBytes(copying: keys.read("SubscriptionKey_FILEKEY123.p8")))
        let fileBytes = fileNumber.withSpan { span in span.indices.map { span[$0] } }
        #expect(try Self.memory(of: program, contains: [fileBytes, fileBytes.reversed()]))
        #expect(Self.contains(fileBytes, core) || Self.contains(fileBytes.reversed(), core))
    }

    /// A core file with all memory of the process, even what it keeps out of core files. The kernel would write none, because
    /// the process disables that.
    private static func coreFile(of program: RunningProgram, in folder: TemporaryFolder) throws -> Data {
        let process = program.process.processIdentifier
        let outcome = try Command.run("gcore", ["-a", "-o", folder.path + "/core", String(process)])
        #expect(outcome.status == 0, "\(outcome.standardError)")
        return try Data(contentsOf: folder.url.appending(path: "core.\(process)"), options: .alwaysMapped)
    }

    /// Returns true if any readable page of the process contains one of the sequences.
    private static func memory(of program: RunningProgram, contains needles: [[UInt8]]) throws -> Bool {
        let process = program.process.processIdentifier
        // Foundation reads only the first page of this file.
        let maps = try Command.run("cat", ["/proc/\(process)/maps"]).standardOutput
        let memory = unsafe open("/proc/\(process)/mem", O_RDONLY | O_CLOEXEC)
        defer { close(memory) }
        for line in maps.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count > 1, fields[1].hasPrefix("rw") else { continue }
            let ends = fields[0].split(separator: "-").compactMap { Int($0, radix: 16) }
            guard ends.count == 2 else { continue }
            var bytes = Data(count: ends[1] - ends[0])
            let count = unsafe bytes.withUnsafeMutableBytes { unsafe pread(memory, $0.baseAddress, $0.count, ends[0]) }
            guard count > 0 else { continue }
            if needles.contains(where: { Self.contains($0, bytes.prefix(count)) }) { return true }
        }
        return false
    }

    private static func contains(_ needle: [UInt8], _ bytes: Data) -> Bool {
        unsafe bytes.withUnsafeBytes { bytes in
            var place = 0
            while place + needle.count <= bytes.count, let start = bytes.baseAddress {
                let rest = bytes.count - needle.count - place + 1
                guard let found = unsafe memchr(start + place, Int32(needle[0]), rest) else { return false }
                if unsafe memcmp(found, needle, needle.count) == 0 { return true }
                place = unsafe UnsafeRawPointer(found) - start + 1
            }
            return false
        }
    }
}
