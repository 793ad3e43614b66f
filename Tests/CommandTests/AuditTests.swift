import Foundation
import Glibc
import NIOConcurrencyHelpers
import OfferAudit
import OfferCore
import OfferCrypto
import OfferEligibility
import TestSupport
import Testing

/// The audit trail of a running service, in real files, pipes and devices.
@Suite("Audit trail", .serialized, .timeLimit(.minutes(10)))
struct AuditTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private var path: String { folder.path + "/audit.jsonl" }

    private func service(
        trail: String? = nil, keys: TemporaryFolder? = nil, environment: [String: String] = [:],
        arguments: [String] = []
    ) throws -> RunningService {
        try RunningService(
            arguments: arguments,
            environment: ["SUBSCRIPTION_OFFERS_AUDIT_LOG": trail ?? path].merging(environment) { $1 }, keys: keys)
    }

    private func makePipe() throws {
        guard unsafe mkfifo(path, 0o600) == 0 else { throw CocoaError(.fileWriteUnknown) }
    }

    /// The lines of a file that record a request's outcome: a signature or a refusal.
    private func entries(in name: String = "audit.jsonl") throws -> [[String: String]] {
        try folder.text(name).split(separator: "\n").compactMap { line in
            let json = try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
            return json["outcome"] == nil ? nil : json.compactMapValues { $0 as? String }
        }
    }

    private func verify(_ arguments: String...) throws -> Command.Outcome {
        try Command.runOfferSigner(["audit", "verify"] + arguments)
    }

    private func status(_ service: RunningService, _ path: String = "/offer") async throws -> Int {
        try await (path == "/offer" ? service.post(path, BadRequest.goodBody) : service.get(path)).status
    }

    private func metric(_ series: String, of service: RunningService) async throws -> Double? {
        Scrape(try await service.get("/metrics").body)[series]
    }

    @Test("each signature has a line with the caller, the request ID and the customer's HMAC")
    func everyKind() async throws {
        let key = "0123456789abcdef0123456789abcdef"
        let digest = Hexadecimal.text(of: try SHA256.hash(Array("ost_0123456789abcdef01234567".utf8)))
        let scopes = "sign, introductory, advanced_commerce"
        try folder.write(
            "callers: [{name: backend, tokenSHA256: \(digest), scopes: [\(scopes)]}]".utf8, to: "config.yaml")
        let service = try service(
            environment: [
                "SUBSCRIPTION_OFFERS_AUDIT_KEY": key,
                "SUBSCRIPTION_OFFERS_CONFIG": folder.path + "/config.yaml",
                "SUBSCRIPTION_OFFERS_ISSUER_ID": Fixtures.issuerText,
            ])
        let offer =
            #""bundleID":"com.example.app","productID":"pro","offerID":"offer","applicationUsername":"MARKED-user""#
        let requests = [
            (
                "/offer",
                #"{"appBundleID":"com.example.app","productIdentifier":"pro","offerID":"offer","applicationUsername":""}"#
            ),
            ("/v1/promotional-offers", "{\(offer)}"),
            ("/v1/promotional-offers", "{\(offer),\"transactionID\":\"2000000123456789\"}"),
            ("/v1/promotional-offers", "{\"offers\":[{\(offer)},{\"bundleID\":\"\"},{\(offer)}]}"),
            (
                "/v1/introductory-offers",
                #"{"bundleID":"com.example.app","productID":"pro","allowIntroductoryOffer":true,"transactionID":"2000000123456789"}"#
            ),
            ("/v1/advanced-commerce", #"{"bundleID":"com.example.app","request":{"operation":"MARKED-operation"}}"#),
        ]
        var requestIDs: [String] = []
        var text = ""
        try await Connection.open(port: service.port) { connection in
            for (path, body) in requests {
                let answer = try #require(
                    try await connection.post(
                        path, json: body, headers: "Authorization: Bearer ost_0123456789abcdef01234567\r\n"))
                #expect(answer.status == 200, "\(path)")
                requestIDs.append(answer.headers["x-request-id"] ?? "")
                text += answer.text
            }
        }
        let entries = try entries()
        let promotional = "promotional_offer"
        #expect(
            entries.map { $0["kind"] } == [
                promotional, promotional, promotional, "promotional_offer_jws", promotional, promotional,
                "introductory_offer_jws", "advanced_commerce_jws",
            ])
        #expect(
            entries.map { $0["requestID"] } == [0, 1, 2, 2, 3, 3, 4, 5].map { requestIDs[$0] })
        #expect(entries.allSatisfy { $0["caller"] == "backend" && $0["outcome"] == "signed" })
        #expect(entries.allSatisfy { $0["keyID"] == RunningService.keyID && $0["bundleID"] == "com.example.app" })
        #expect(entries.map { $0["productID"] } == Array(repeating: "pro", count: 7) + [nil])
        #expect(entries.map { $0["offerID"] } == Array(repeating: "offer", count: 6) + [nil, nil])
        // Computed by openssl, independently of our code.
        func code(_ customer: String) throws -> String {
            let outcome = try Command.run(
                "openssl", ["dgst", "-sha256", "-mac", "HMAC", "-macopt", "key:\(key)"], input: Array(customer.utf8))
            return outcome.standardOutput.split(separator: " ").last.map { $0.trimmingCharacters(in: .newlines) } ?? ""
        }
        let (user, transaction) = (try code("MARKED-user"), try code("2000000123456789"))
        #expect(
            entries.map { $0["customer"] } == ["", user, user, transaction, user, user, transaction, nil])
        // All eight nonces differ. Five appear in a response as text; the other three are encoded inside a JWS.
        #expect(Set(entries.compactMap { $0["nonce"] }).count == 8)
        #expect(entries.filter { text.contains($0["nonce"] ?? "-") }.count == 5)
        let trail = try folder.text("audit.jsonl")
        #expect(!trail.contains("MARKED") && !trail.contains(key) && !trail.contains("ost_"))
        #expect(trail.ranges(of: #","allowIntroductoryOffer":true,"#).count == 1)
        func sha256(_ text: String) throws -> String {
            String(try Command.run("sha256sum", [], input: Array(text.utf8)).standardOutput.prefix(64))
        }
        #expect(
            entries.last?["requestSHA256"] == (try sha256(#"{"operation":"MARKED-operation"}"#)))
        let token = String(try sha256("ost_0123456789abcdef01234567").prefix(8))
        #expect(entries.allSatisfy { $0["token"] == token && $0["address"]?.count == 64 })
        #expect(Set(entries.map { $0["address"] }).count == 1 && !trail.contains("127.0.0.1"))
        #expect(try verify(path).status == 0)
    }

    @Test("a refused request has a line with its problem code; a malformed one has none")
    func refused() async throws {
        let service = try service()
        try await Connection.open(port: service.port) { connection in
            _ = try await connection.post("/offer", json: "{}")
            _ = try await connection.post(
                "/v1/advanced-commerce", json: #"{"bundleID":"a","request":{"operation":"x"}}"#)
            _ = try await connection.post("/offer", json: BadRequest.goodBody)
        }
        #expect(try entries().map { $0["outcome"] } == ["issuer_id_missing", "signed"])
    }

    @Test("after 20 kills under load, the trail contains every answered request")
    func killed() async throws {
        var nonces: Set<String> = []
        var keys: TemporaryFolder?
        for _ in 0..<20 {
            let service = try service(keys: keys)
            keys = service.keys
            let load = OfferLoad()
            load.expect(service.verifyingKey, as: RunningService.keyID)
            try await load.run(port: service.port) {
                try await waitUntil { load.nonces.count > 40 }
                service.killAtOnce()
            }
            #expect(load.nonces.count > 40)
            nonces.formUnion(load.nonces)
        }
        let recorded = Set(try entries().compactMap { $0["nonce"] })
        #expect(nonces.subtracting(recorded).isEmpty)
        let outcome = try verify(path)
        #expect(outcome.status == 0, "\(outcome.standardError)")
    }

    @Test("an unwritable trail stops only signing, and signing resumes once the trail is writable")
    func full() async throws {
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/full")
        let service = try service(environment: ["SUBSCRIPTION_OFFERS_ISSUER_ID": Fixtures.issuerText])
        let bodies = [
            "/offer": BadRequest.goodBody,
            "/v1/promotional-offers": #"{"bundleID":"a","productID":"p","offerID":"o","applicationUsername":"u"}"#,
            "/v1/introductory-offers":
                #"{"bundleID":"a","productID":"p","allowIntroductoryOffer":true,"transactionID":"20000001"}"#,
            "/v1/advanced-commerce": #"{"bundleID":"a","request":{"operation":"x"}}"#,
        ]
        for (path, body) in bodies {
            let answer = try await service.post(path, body)
            #expect(answer.status == 503)
            #expect(answer.headers["retry-after"] == "1")
            #expect(answer.text.contains("\"audit_unavailable\"") && !answer.text.contains("signature\":"))
        }
        #expect(try await status(service, "/health/live") == 200)
        #expect(try await status(service, "/health/ready") == 503)
        let report = try await service.health
        #expect(report.contains(#""code":"audit_unavailable""#) && report.contains(#""audit":"failed""#))
        #expect(report.contains(#""keys":"ok""#) && report.contains("No space left"))
        #expect(try await metric("offer_signer_ready", of: service) == 0)
        #expect(try await metric("offer_signer_audit_writable", of: service) == 0)
        #expect(try service.log.contains("nothing is signed"))

        try folder.remove("audit.jsonl")
        try await waitUntil { try await status(service) == 200 }
        #expect(try await status(service, "/health/ready") == 200)
        #expect(try await metric("offer_signer_ready", of: service) == 1)
        #expect(try service.log.contains("problem resolved"))

        // Now writing fails while the service runs.
        try FileManager.default.moveItem(atPath: path, toPath: folder.path + "/first")
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/full")
        #expect(try await status(service) == 503)
        #expect(try await status(service) == 503)
        try folder.remove("audit.jsonl")
        try await waitUntil { try await status(service) == 200 }
        let outcome = try verify(folder.path + "/first", path)
        #expect(outcome.status == 0, "\(outcome.standardError)")
        let text = try folder.text("audit.jsonl")
        #expect(text.contains(#""event":"resume""#))
    }

    @Test("the trail can be a pipe; without a reader nothing is signed, but other requests work")
    func pipe() async throws {
        try makePipe()
        let first = try Reader(of: path)
        let service = try service()
        #expect(try await status(service) == 200)
        try await waitUntil { first.text.contains(#""outcome":"signed""#) }

        // No reader at the other end.
        try await first.close()
        #expect(try await status(service) == 503)
        #expect(try await status(service, "/health/ready") == 503)
        let second = try Reader(of: path)
        try await waitUntil { try await status(service) == 200 }

        // The reader pauses, so the pipe fills up and the disk seems to hang. Pipelined requests are answered in order.
        second.pause()
        try await Connection.open(port: service.port) { connection in
            var isFull = false
            while !isFull {
                let answer = try #require(try await connection.post("/offer", json: BadRequest.goodBody))
                isFull = answer.status == 503
            }
            #expect(try await connection.get("/health/live")?.status == 200)
            try await connection.send(
                BadRequest.goodPost + "GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n" + BadRequest.goodPost)
            for expected in [503, 200, 503] { #expect(try await connection.receive()?.status == expected) }
        }
        second.resume()
        try await waitUntil { try await status(service) == 200 }
        #expect(service.stop() == 0)
    }

    @Test("300 responses that wait for the trail arrive even after the client half-closes")
    func waiting() async throws {
        try makePipe()
        let reader = try Reader(of: path)
        let service = try service()
        reader.pause()
        try await Connection.open(port: service.port) { connection in
            // More requests than fit in the pipe.
            for _ in 0..<100 { try await connection.send(String(repeating: BadRequest.goodPost, count: 3)) }
            connection.finishSending()
            reader.resume()
            var statuses: [Int] = []
            while let answer = try await connection.receive() { statuses.append(answer.status) }
            // Some get 503 if this takes so long that the disk seems to hang.
            #expect(statuses.count == 300 && statuses.allSatisfy { $0 == 200 || $0 == 503 }, "\(statuses)")
            let signed = statuses.count { $0 == 200 }
            #expect(signed > 0)
            try await waitUntil { reader.text.split(separator: "\n").count { $0.contains("signed") } >= signed }
        }
    }

    @Test("two services on one port share one trail")
    func twoServices() async throws {
        let first = try service(arguments: ["--reuse-port"])
        let second = try service(arguments: ["--reuse-port", "--port", "\(first.port)"])
        for _ in 0..<40 { #expect(try await status(first) == 200) }
        _ = (first.stop(), second.stop())
        #expect(try entries().count == 40)
        let outcome = try verify(path)
        #expect(outcome.status == 0, "\(outcome.standardError)")
    }

    @Test("the trail continues in a new file after a rename, without a signal")
    func rotated() async throws {
        let service = try service(environment: ["SUBSCRIPTION_OFFERS_AUDIT_SYNC": "true"])
        #expect(try await status(service) == 200)
        try FileManager.default.moveItem(atPath: path, toPath: folder.path + "/old")
        #expect(try await status(service) == 200)
        #expect(try entries(in: "old").count == 1)
        #expect(try entries().count == 1)
        #expect(try verify(folder.path + "/old", path).status == 0)
        let later = try verify(path)
        #expect(later.status == 0 && later.standardOutput.contains("continues from: "))
    }

    @Test(
        "an unusable trail prevents startup, and doctor reports it",
        arguments: [
            ("/none/audit.jsonl", "/none/audit.jsonl cannot be written (No such file or directory)"),
            ("", " cannot be written (Is a directory)"), ("/text", "/text does not end with an audit line"),
        ])
    func neverWritten(trail: String, error: String) throws {
        try folder.write("root:x:0:0\n".utf8, to: "text")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        let serve = try run("serve", trail: folder.path + trail)
        let doctor = try run("doctor", trail: folder.path + trail)
        for outcome in [serve, doctor] {
            #expect(outcome.status == 1)
            #expect(outcome.standardError.contains("error: nothing is signed"))
            #expect(outcome.standardError.contains("\(folder.path)\(error)\nhint: "), "\(outcome.standardError)")
        }
        // Neither command has created anything but the development key.
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
                == ["SubscriptionKey_DEVELOPKEY.p8"] + names)
    }

    private func run(_ command: String, trail: String, key: String = "") throws -> Command.Outcome {
        try Command.runOfferSigner(
            [command, "--development", "--port", "0", "--keys-dir", folder.path],
            environment: ["SUBSCRIPTION_OFFERS_AUDIT_LOG": trail, "SUBSCRIPTION_OFFERS_AUDIT_KEY": key])
    }

    @Test("doctor accepts a writable trail without changing it, and suggests setting an audit key")
    func doctor() async throws {
        let new = try run("doctor", trail: path)
        #expect(new.status == 0, "\(new.standardError)")
        #expect(
            new.standardOutput.contains(
                "ok: the audit trail can be written to \(path)\nhint: set SUBSCRIPTION_OFFERS_AUDIT_KEY"))
        #expect(!FileManager.default.fileExists(atPath: path))
        let service = try service()
        #expect(try await status(service) == 200)
        // The file ends in the middle of a line, as it can while the service writes.
        try folder.write(try folder.read("audit.jsonl").dropLast(40), to: "audit.jsonl")
        let text = try folder.read("audit.jsonl")
        let running = try run("doctor", trail: path, key: "0123456789abcdef")
        #expect(running.status == 0, "\(running.standardError)")
        #expect(!running.standardOutput.contains("SUBSCRIPTION_OFFERS_AUDIT_KEY"))
        #expect(try folder.read("audit.jsonl") == text)
    }

    @Test("a reload keeps the trail and logs that a new path needs a restart")
    func reload() async throws {
        let service = try service()
        try service.reload("SUBSCRIPTION_OFFERS_AUDIT_LOG=\(folder.path)/other")
        try await waitUntil { try service.log.contains("AUDIT_LOG has changed since startup") }
        #expect(try await status(service) == 200)
        #expect(try entries().count == 1)
    }

    @Test("the sign command prints an offer only if the trail records it")
    func command() throws {
        let keys = try RunningService.makeKeys()
        func sign(_ trail: String) throws -> Command.Outcome {
            try Command.runOfferSigner(
                ["sign", "--key-id", RunningService.keyID, "--keys-dir", keys.path], input: BadRequest.goodBody,
                environment: ["SUBSCRIPTION_OFFERS_AUDIT_LOG": trail])
        }
        #expect(try sign(path).status == 0)
        #expect(try entries().count == 1)
        let full = try sign("/dev/full")
        #expect(full.status != 0 && full.standardOutput.isEmpty)
        #expect(full.standardError.contains("audit trail"))
    }

    // MARK: The witness

    @Test("erasing lines under a running service raises the alarm, until an operator acknowledges the break")
    func erased() async throws {
        let service = try service()
        for _ in 0..<5 { #expect(try await status(service) == 200) }
        let lines = try folder.text("audit.jsonl").split(separator: "\n")
        try folder.write((lines.dropLast(3).joined(separator: "\n") + "\n").utf8, to: "audit.jsonl")
        #expect(try await status(service) == 200)
        try await waitUntil { try service.log.contains("ALARM: the audit trail no longer holds the last line") }
        let degraded = try await service.health
        #expect(degraded.hasPrefix(#"{"status":"degraded""#) && degraded.contains(#""audit":"degraded""#))
        #expect(degraded.contains("line 8 of the audit trail marks a break"))
        #expect(try await metric("offer_signer_audit_breaks_total", of: service) == 1)
        #expect(try await metric("offer_signer_ready", of: service) == 1)
        let altered = try verify(path)
        #expect(altered.status == 1)
        #expect(
            altered.standardError.contains("/audit.jsonl:5: lines 5 to 7 of the trail are missing before this one\n"))
        // With the lines back, only the mark is left.
        let after = try folder.text("audit.jsonl").split(separator: "\n")
        try folder.write(((lines + after.dropFirst(4)).joined(separator: "\n") + "\n").utf8, to: "whole")
        let whole = try verify(folder.path + "/whole")
        #expect(whole.status == 1)
        #expect(whole.standardError.hasPrefix("\(folder.path)/whole:8: this line marks a break: "))
        #expect(whole.standardError.contains("error: 1 of 9 lines"))

        let doctor = try run("doctor", trail: path)
        #expect(doctor.status == 1 && doctor.standardError.contains("line 8 of the audit trail marks a break"))
        let acknowledged = try Command.runOfferSigner(
            ["audit", "acknowledge", "--audit-log", path])
        #expect(acknowledged.status == 0, "\(acknowledged.standardError)")
        #expect(acknowledged.standardOutput.hasPrefix("acknowledged: the break that line 8 marks\nlast line: 10\n"))
        #expect(try folder.text("audit.jsonl").contains(#""user":""#))
        #expect(try await status(service) == 200)
        #expect(try await !service.health.contains("marks a break"))
        #expect(try run("doctor", trail: path).status == 0)
        #expect(try verify(path).status == 1, "lines are still missing")
    }

    @Test("audit acknowledge changes nothing without a trail")
    func nothingToAcknowledge() throws {
        func acknowledge(_ arguments: String...) throws -> Command.Outcome {
            try Command.runOfferSigner(["audit", "acknowledge"] + arguments)
        }
        #expect(try acknowledge().standardError.contains("error: no audit trail is configured"))
        #expect(try acknowledge("--audit-log", path).status == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }

    @Test("audit head prints the last line as audit verify does, and agrees with the metrics and the log")
    func head() async throws {
        let service = try service()
        for _ in 0..<3 { #expect(try await status(service) == 200) }
        let head = try Command.runOfferSigner(["audit", "head", path])
        #expect(head.status == 0 && head.standardOutput.hasPrefix("last line: 5\nlast hash: "))
        #expect(try verify(path).standardOutput.hasSuffix(head.standardOutput))
        let hash = head.standardOutput.dropLast().suffix(64)
        #expect(try await metric("offer_signer_audit_head_line", of: service) == 5)
        let number = try #require(Int(hash.prefix(12), radix: 16))
        #expect(try await metric("offer_signer_audit_head_hash", of: service) == Double(number))
        #expect(try service.log.contains("audit trail head"))
        #expect(try Command.runOfferSigner(["audit", "head", folder.path + "/none"]).status == 1)
    }

    @Test("lines with an HMAC can be verified only with the audit key")
    func keyed() async throws {
        let key = "0123456789abcdef0123456789abcdef"
        let name = "SUBSCRIPTION_OFFERS_AUDIT_KEY"
        do {
            let service = try service(environment: [name: key, "SUBSCRIPTION_OFFERS_AUDIT_CHAIN": "hmac"])
            for _ in 0..<2 { #expect(try await status(service) == 200) }
            #expect(service.stop() == 0)
        }
        let without = try verify(path)
        #expect(without.status == 1)
        #expect(without.standardError.contains("audit.jsonl contains lines with an HMAC"))
        #expect(without.standardError.contains("\nhint: set \(name)"))
        try folder.write("\(name)=\(key)\n".utf8, to: "env")
        #expect(try verify("--env-file", folder.path + "/env", path).status == 0)
        func verifyAll(key: String, _ flags: String...) throws -> Command.Outcome {
            try Command.runOfferSigner(["audit", "verify", path] + flags, environment: [name: key])
        }
        #expect(try verifyAll(key: key).standardOutput.hasPrefix("ok: 4 lines, "))
        #expect(try verifyAll(key: "fedcba9876543210fedcba9876543210").status == 1)
        // The trail goes on without the key, which only the operator can know to be in order.
        do {
            let service = try service(environment: [name: key])
            #expect(service.stop() == 0)
        }
        let off = try verifyAll(key: key)
        #expect(off.status == 1)
        #expect(off.standardError.hasPrefix("\(path):5: this line has no HMAC, unlike the one before it"))
        let allowed = try verifyAll(key: key, "--allow-unkeyed")
        #expect(allowed.standardOutput.contains("\nlast line without an HMAC: 5\nlast line: 5\n"))
    }

    @Test("audit verify sorts its files by their first lines")
    func sorted() async throws {
        let service = try service()
        for name in ["c", "a", "b"] {
            #expect(try await status(service) == 200)
            try FileManager.default.moveItem(atPath: path, toPath: folder.path + "/" + name)
        }
        #expect(try await status(service) == 200)
        try folder.write([], to: "empty")
        let files = ["a", "b", "c", "audit.jsonl", "empty"].map { folder.path + "/" + $0 }
        let outcome = try Command.runOfferSigner(["audit", "verify"] + files)
        #expect(outcome.status == 0, "\(outcome.standardError)")
        #expect(outcome.standardOutput.hasPrefix("ok: 9 lines, "))
    }

    @Test("someone who may only read the trail cannot stop signing with a lock on it")
    func readLock() async throws {
        let service = try service()
        let reader = try #require(FileHandle(forReadingAtPath: path))
        var lock = Glibc.flock()
        lock.l_type = Int16(F_RDLCK)
        // F_OFD_SETLK, which Swift does not import.
        #expect(unsafe fcntl(reader.fileDescriptor, 37, &lock) == 0)
        #expect(try await status(service) == 200)
        #expect(try entries().count == 1)
    }

    @Test("audit verify reports each fault with its line number and checks for an expected hash")
    func verifying() async throws {
        do {
            let service = try service()
            for _ in 0..<3 { #expect(try await status(service) == 200) }
            #expect(service.stop() == 0)
        }
        let good = try verify(path)
        #expect(good.status == 0)
        #expect(
            good.standardOutput.hasPrefix(
                "ok: 5 lines, each continues the previous one\nlast line: 5\nlast hash: "))
        let hash = try #require(good.standardOutput.split(separator: "\n").last?.split(separator: " ").last)
        #expect(try verify("--expect-hash", String(hash), path).status == 0)

        let lines = try folder.text("audit.jsonl").split(separator: "\n")
        try folder.write(lines[..<4].joined(separator: "\n").utf8 + [0x0A], to: "short")
        #expect(try verify(folder.path + "/short").status == 0)
        #expect(try verify("--expect-hash", String(hash), folder.path + "/short").status == 1)

        try folder.write((lines[0] + "\n" + lines[2]).utf8 + [0x0A], to: "gap")
        let gap = try verify(folder.path + "/gap")
        #expect(gap.status == 1)
        #expect(gap.standardError.contains("/gap:2: line 2 of the trail is missing before this one\n"))

        let altered = lines.map { $0.replacing("\"offer\"", with: "\"other\"") }.joined(separator: "\n") + "\n"
        try folder.write(altered.utf8, to: "altered")
        let outcome = try verify(folder.path + "/altered")
        #expect(outcome.status == 1)
        #expect(outcome.standardError.contains("/altered:3: this line or the one before it was altered\n"))
        #expect(try verify(folder.path + "/none").status != 0)
        #expect(try verify("--expect-hash", "x", path).status != 0)

        // A fragment in front does not excuse the first line from the check.
        try folder.write(#"{"li"#.utf8, to: "audit.jsonl.0")
        let before = folder.path + "/audit.jsonl.0"
        let fragment = try verify("--expect-hash", String(hash), before, path)
        #expect(fragment.status == 0 && fragment.standardOutput.hasPrefix("ok: 5 lines, "))
        try folder.write((lines[4] + "\n").utf8, to: "last")
        let unverified = try verify("--expect-hash", String(hash), before, folder.path + "/last")
        #expect(unverified.status == 1)
        #expect(unverified.standardError.contains("/last:1: the lines before this one are missing\n"))
    }
}

/// The read end of a pipe.
private final class Reader: Sendable {
    private let path: String
    private let handle: FileHandle
    private let collected = NIOLockedValueBox(Data())

    init(of path: String) throws {
        self.path = path
        let descriptor = unsafe open(path, O_RDONLY | O_NONBLOCK)
        guard descriptor >= 0 else { throw CocoaError(.fileReadUnknown) }
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        resume()
    }

    var text: String { String(decoding: collected.withLockedValue { $0 }, as: UTF8.self) }

    func resume() {
        handle.readabilityHandler = { [collected] handle in
            let data = handle.availableData
            collected.withLockedValue { $0 += data }
        }
    }

    func pause() { handle.readabilityHandler = nil }

    /// Returns when the pipe has no reader. While Foundation still watches the descriptor, it stays open for a moment.
    func close() async throws {
        pause()
        try? handle.close()
        try await waitUntil { !isOpen }
    }

    /// Whether the pipe has a reader: without one, it cannot be opened for writing.
    private var isOpen: Bool {
        let descriptor = unsafe open(path, O_WRONLY | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        _ = Glibc.close(descriptor)
        return true
    }
}
