import Foundation
import OfferConfiguration
import OfferCore
import OfferCrypto
import OfferService
import TestSupport
import Testing

@Suite("offer-signer serve", .timeLimit(.minutes(5)))
struct ServeTests {
    @Test("every bad request is refused or disconnected, and a good request works afterwards")
    func badRequests() async throws {
        let service = try RunningService()
        #expect(BadRequest.all.count >= 60)
        for request in BadRequest.all {
            let answer = try await Connection.open(port: service.port) { connection in
                try? await connection.send(request.bytes)
                connection.finishSending()
                return try await connection.receive()
            }
            if let answer {
                #expect(request.statuses.contains(answer.status), "\(request.name): \(answer.status)")
                #expect(answer.headers["content-type"] == "application/problem+json", "\(request.name)")
                #expect(answer.headers["cache-control"] == "no-store", "\(request.name)")
                let problem = answer.json
                #expect(problem["code"] is String, "\(request.name)")
                #expect(problem["requestID"] as? String == answer.headers["x-request-id"] ?? "none", "\(request.name)")
                #expect(problem["signature"] == nil, "\(request.name)")
            } else {
                #expect(request.mayHangUp, "no response to \(request.name)")
            }
            #expect(try await service.post("/offer", BadRequest.goodBody).status == 200, "after \(request.name)")
        }
        #expect(service.isRunning)
        #expect(service.stop() == 0)
    }

    @Test("10,000 offers over eight connections verify, with unique version 4 nonces")
    func tenThousandOffers() async throws {
        let service = try RunningService()
        let nonces = try await withThrowingTaskGroup(of: [String].self) { group in
            for connection in 0..<8 {
                group.addTask { try await Self.requestOffers(1250, from: service, user: "user\(connection)") }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(nonces.count == 10_000)
        #expect(Set(nonces).count == 10_000)
        for nonce in nonces {
            #expect(nonce.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil)
        }
        #expect(service.stop() == 0)
    }

    /// - Returns: the nonces.
    private static func requestOffers(_ count: Int, from service: RunningService, user: String) async throws -> [String]
    {
        let body = BadRequest.goodBody.replacing("user", with: user)
        return try await Connection.open(port: service.port) { connection in
            var nonces: [String] = []
            for _ in 0..<count {
                let before = Date().timeIntervalSince1970
                let answer = try #require(await connection.post("/offer", json: body))
                let nonce = try #require(answer.json["nonce"] as? String)
                let timestamp = try #require(answer.json["timestamp"] as? Int64)
                #expect(Double(timestamp) >= (before * 1000).rounded(.down))
                let payload = ["com.example.app", RunningService.keyID, "pro", "offer", user, nonce, "\(timestamp)"]
                let base64 = try #require(answer.json["signature"] as? String)
                let signature = [UInt8](try #require(Data(base64Encoded: base64)))
                let message = Array(payload.joined(separator: "\u{2063}").utf8)
                guard try service.verifyingKey.verify(signature, of: message) else {
                    Issue.record("\(nonce) does not verify")
                    return nonces
                }
                nonces.append(nonce)
            }
            return nonces
        }
    }

    @Test("pipelined requests are answered in order")
    func pipelined() async throws {
        let service = try RunningService()
        try await Connection.open(port: service.port) { connection in
            let users = (0..<20).map { "user\($0)" }
            let requests = users.map { user in
                let body = #"{"bundleID":"a","productID":"p","offerID":"o","applicationUsername":"\#(user)"}"#
                return
                    "POST /v1/promotional-offers HTTP/1.1\r\nHost: localhost\r\n\(BadRequest.json)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
            }
            try await connection.send(requests.joined() + "GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
            for user in users {
                let answer = try #require(await connection.receive())
                #expect(answer.text.contains("\"\(user)\""))
            }
            #expect(try await connection.receive()?.status == 200)
        }
    }

    @Test("a request sent byte by byte or in chunks is answered like a whole one")
    func slowRequest() async throws {
        let service = try RunningService()
        try await Connection.open(port: service.port) { connection in
            for byte in Array(BadRequest.goodPost.utf8) { try await connection.send([byte]) }
            #expect(try await connection.receive()?.status == 200)
            var chunked =
                "POST /offer HTTP/1.1\r\nHost: localhost\r\n\(BadRequest.json)\r\nTransfer-Encoding: chunked\r\n\r\n"
            for character in BadRequest.goodBody { chunked += "1\r\n\(character)\r\n" }
            try await connection.send(chunked + "0\r\n\r\n")
            #expect(try await connection.receive()?.status == 200)
        }
    }

    @Test("a refused but well-framed request leaves the connection open")
    func sameConnection() async throws {
        let service = try RunningService()
        try await Connection.open(port: service.port) { connection in
            let wellFramed =
                BadRequest.fields + BadRequest.jsonTexts + BadRequest.mediaTypes + BadRequest.queries
                + BadRequest.methodsAndPaths.filter { $0.staysOpen }
            for request in wellFramed {
                try await connection.send(request.bytes)
                let refused = try await connection.receive()
                #expect(refused.map { request.statuses.contains($0.status) } == true, "\(request.name)")
                let good = try await connection.post("/offer", json: BadRequest.goodBody)
                #expect(good?.status == 200, "after \(request.name)")
            }
        }
    }

    @Test("HEAD gets no body, Expect: 100-continue gets a 100 first, and Connection: close is obeyed")
    func protocolManners() async throws {
        let service = try RunningService()
        try await Connection.open(port: service.port) { connection in
            try await connection.send("HEAD /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
            #expect(try await connection.receiveHead()?.status == 200)
            #expect(try await connection.get("/health/live")?.text == #"{"status":"live"}"#)

            try await connection.send(
                "POST /offer HTTP/1.1\r\nHost: localhost\r\n\(BadRequest.json)\r\n\(BadRequest.length)\r\nExpect: 100-continue\r\n\r\n"
            )
            #expect(try await connection.receive()?.status == 100)
            try await connection.send(BadRequest.goodBody)
            #expect(try await connection.receive()?.status == 200)
        }
        for last in [
            "GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: Close\r\n\r\n",
            "GET /health/live HTTP/1.0\r\n\r\n",
        ] {
            try await Connection.open(port: service.port) { connection in
                try await connection.send(last)
                let answer = try await connection.receive()
                #expect(answer?.status == 200)
                #expect(answer?.headers["connection"] == "close")
                #expect(try await connection.isAtEnd)
            }
        }
    }

    @Test(
        "a request for another protocol gets an ordinary response, and then the connection closes",
        arguments: [
            "GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n\r\n",
            "GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
            "CONNECT a:80 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        ])
    func otherProtocols(request: String) async throws {
        let service = try RunningService()
        let before = try service.residentKilobytes
        try await Connection.open(port: service.port) { connection in
            try await connection.send(request)
            let answer = try await connection.receive()
            #expect(answer?.status == (request.hasPrefix("GET") ? 200 : 404))
            #expect(answer?.headers["connection"] == "close")
            // The service drops any bytes that follow and may disconnect while they arrive.
            try? await connection.flood(of: [UInt8](repeating: 0x61, count: 65536), times: 800)()
            #expect(try await connection.isAtEnd)
        }
        #expect(try service.residentKilobytes - before < 20_000)
        #expect(service.stop() == 0)
    }

    @Test("a request target may be an absolute URL")
    func absoluteForm() async throws {
        let service = try RunningService()
        try await Connection.open(port: service.port) { connection in
            for (target, status) in [
                ("http://a/health/live", 200), ("HTTP://a:80/health/live", 200), ("http://localhost", 404),
                ("http://a", 421), ("ftp://a/health/live", 404),
            ] {
                let answer = try await connection.get(target)
                #expect(answer?.status == status, "\(target)")
            }
        }
    }

    @Test("the service stops reading from a client that does not read its responses")
    func unreadAnswers() async throws {
        // At this level, each refusal is logged, so the log grows as long as the service reads.
        let service = try RunningService(arguments: ["--log-level", "debug"])
        let before = try service.residentKilobytes
        try await Connection.open(port: service.port) { connection in
            let request = Array("GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
            let many = Array(repeatElement(request, count: 2000).joined())
            // The 200,000 requests produce 70 MB of responses, which the client never reads.
            let flood = connection.flood(of: many, times: 100)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await flood() }
                try await Self.waitUntilLogRests(of: service)
                group.cancelAll()
                // The cancelled flood may end with or without an error.
                while case .some(.failure) = await group.nextResult() {}
            }
        }
        #expect(try service.residentKilobytes - before < 30_000)
        #expect(service.stop() == 0)
    }

    /// Waits until the log stops growing, which shows that the service has stopped reading requests.
    private static func waitUntilLogRests(of service: RunningService) async throws {
        var size = 0
        while case let now = try service.log.utf8.count, now < 1000 || now != size {
            size = now
            try await Task.sleep(for: .milliseconds(500))
        }
    }

    @Test("SIGTERM lets a request in progress finish, but does not wait for one that never ends")
    func stopInTheMiddle() async throws {
        let service = try RunningService()
        try await Connection.open(port: service.port) { finishing in
            try await finishing.send(
                "POST /offer HTTP/1.1\r\nHost: localhost\r\n\(BadRequest.json)\r\n\(BadRequest.length)\r\n\r\n")
            try await Connection.open(port: service.port) { never in
                try await never.send("POST /health/live HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n")
                // Both requests have started once every event loop has answered a later one.
                for _ in 0..<8 { _ = try await service.get("/health/live") }
                try await Connection.open(port: service.port) { halfHead in
                    let (first, second) = ("GET /health/live HTTP/1.1\r\nHo", "st: a\r\n\r\n")
                    try await halfHead.send(first)
                    // After these responses, the event loop has also read the first half of the head.
                    for _ in 0..<8 { _ = try await service.get("/health/live") }
                    service.terminate()
                    try await Task.sleep(for: .milliseconds(200))
                    try await halfHead.send(second)
                    try await finishing.send(BadRequest.goodBody)
                    for answer in [try await halfHead.receive(), try await finishing.receive()] {
                        #expect(answer?.status == 200)
                        #expect(answer?.headers["connection"] == "close")
                    }
                }
            }
        }
        #expect(service.stop() == 0)
    }

    @Test("health routes respond, and SIGTERM ends the process with status 0")
    func healthAndStop() async throws {
        let service = try RunningService()
        for path in ["/health/live", "/health/ready"] { #expect(try await service.get(path).status == 200) }
        #expect(service.stop() == 0)
    }

    @Test("serve without a key exits with an error and a hint")
    func withoutKey() throws {
        let outcome = try Command.runOfferSigner([])
        #expect(outcome.status == 1)
        #expect(outcome.standardOutput == "")
        #expect(outcome.standardError.contains("error: no signing key is chosen\nhint: "))
        #expect(outcome.standardError.contains("--development"))
    }

    @Test("serve with a missing or invalid key exits with an error and a hint")
    func brokenKey() throws {
        let folder = try TemporaryFolder()
        try folder.write(Array("marked".utf8), to: "SubscriptionKey_BROKEN1234.p8")
        try folder.write(PrivateKeyPEM.generate(), to: "SubscriptionKey_SOUNDKEY12.p8")
        let missing = try Command.runOfferSigner(["serve", "--key-id", "OTHER12345", "--keys-dir", folder.path])
        #expect(missing.status == 1)
        #expect(missing.standardError.contains("error: there is no key file"))
        #expect(missing.standardError.contains("hint: the folder has keys with these IDs: SOUNDKEY12"))
        let broken = try Command.runOfferSigner(
            [], environment: ["SUBSCRIPTION_OFFERS_KEY_ID": "BROKEN1234", "SUBSCRIPTION_OFFERS_KEYS_DIR": folder.path])
        #expect(broken.status == 1)
        #expect(broken.standardError.contains("it is not PEM"))
        let inEnvironment = try Command.runOfferSigner(
            [], environment: ["SUBSCRIPTION_OFFERS_KEY_ID": "A", "SUBSCRIPTION_OFFERS_PRIVATE_KEY": "marked"])
        #expect(inEnvironment.status == 1)
        #expect(
            inEnvironment.standardError.contains("SUBSCRIPTION_OFFERS_PRIVATE_KEY cannot sign offers: it is not PEM"))
        for outcome in [missing, broken, inEnvironment] { #expect(!outcome.standardError.contains("marked")) }
    }

    @Test("a port in use is reported as an error")
    func portInUse() throws {
        let service = try RunningService()
        let folder = try TemporaryFolder()
        let outcome = try Command.runOfferSigner([
            "--development", "--port", "\(service.port)", "--keys-dir", folder.path,
        ])
        #expect(outcome.status == 1)
        #expect(outcome.standardError.contains("error: cannot listen on 127.0.0.1:\(service.port)"))
        #expect(outcome.standardError.contains("hint: "))
    }
}
