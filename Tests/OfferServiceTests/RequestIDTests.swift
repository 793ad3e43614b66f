import NIOCore
import NIOEmbedded
import OfferCore
import OfferEligibility
import OfferHTTP
import TestSupport
import Testing

@Suite("Request IDs")
struct RequestIDTests {
    private static func isMade(_ text: String) -> Bool { text.wholeMatch(of: /[0-9a-f]{16}/) != nil }

    @Test(
        "a well-formed request ID is kept",
        arguments: ["a", "0-._Z", "d3b07384-d113-4ec6-a7b1-6f1c2f5e9b10", String(repeating: "x", count: 64)])
    func taken(text: String) {
        #expect(RequestContext(requestID: text).id.text == text)
    }

    @Test(
        "a malformed request ID is replaced by a new one",
        arguments: [
            nil, "", " ", "a b", "a\nb", "a\"b", "é", "a;b", "a+b=", "<a>", "a\u{2028}",
            String(repeating: "x", count: 65),
        ])
    func madeAnew(text: String?) {
        #expect(Self.isMade(RequestContext(requestID: text).id.text))
    }

    @Test("generated request IDs are unique")
    func unique() {
        #expect(Set((0..<10_000).map { _ in RequestID() }).count == 10_000)
    }

    /// Everything that a connection sends in response to these bytes.
    private static func answers(to bytes: [UInt8]) throws -> String {
        let routes = try TestService()
        let channel = EmbeddedChannel()
        let connection = OpenConnection(channel, budget: .roomy)
        let batch = ResponseBatch(
            eventLoop: channel.eventLoop, responder: routes.router, asyncLane: AsyncLane(), budget: .roomy)
        let handler = HTTP1Handler(
            responder: routes.router, date: HTTPDate(), batch: batch, connection: connection)
        try channel.pipeline.syncOperations.addHandler(handler)
        try channel.writeInbound(ByteBuffer(bytes: bytes))
        channel.embeddedEventLoop.run()
        var sent = ByteBuffer()
        while let buffer = try channel.readOutbound(as: ByteBuffer.self) { sent.writeImmutableBuffer(buffer) }
        return String(buffer: sent)
    }

    private static func request(_ headers: String, method: String = "GET", _ path: String = "/health/live") -> [UInt8] {
        Array("\(method) \(path) HTTP/1.1\r\nHost: a\r\n\(headers)\r\n".utf8)
    }

    @Test("every response has a request ID, and requests on one connection have different IDs")
    func everyAnswer() throws {
        let sent = try Self.answers(
            to: Self.request("x-request-ID:  first\t\r\n") + Self.request("")
                + Self.request("X-Request-ID: third\r\n", "/nothing") + Self.request("", method: "HEAD"))
        let ids = sent.matches(of: /\r\nX-Request-ID: ([^\r]*)\r\n/).map { String($0.output.1) }
        #expect(ids.count == 4)
        #expect(ids[0] == "first" && ids[2] == "third")
        #expect(Self.isMade(ids[1]) && Self.isMade(ids[3]))
        #expect(sent.contains(#""requestID":"third""#))
    }

    @Test("the Idempotency-Key reaches the service, and several are no key")
    func idempotencyKey() throws {
        let query = "/offer?appBundleID=a&productIdentifier=p&offerID=o&applicationUsername=u"
        let answers = try ["", "Idempotency-Key: k\r\nidempotency-key: k\r\n", "Idempotency-Key: \"k\r\n"].map {
            try Self.answers(to: Self.request($0, query)).prefix(12)
        }
        #expect(answers == ["HTTP/1.1 200", "HTTP/1.1 400", "HTTP/1.1 400"])
    }

    @Test(
        "a repeated or non-UTF-8 request ID is replaced, not refused",
        arguments: [
            Array("X-Request-ID: a\r\nX-Request-ID: a\r\n".utf8), Array("X-Request-ID: ".utf8) + [0xFF, 0x0D, 0x0A],
        ])
    func noError(header: [UInt8]) throws {
        let head = Array("GET /health/live HTTP/1.1\r\nHost: a\r\n".utf8)
        let sent = try Self.answers(to: head + header + Array("\r\n".utf8))
        #expect(sent.hasPrefix("HTTP/1.1 200 "))
        #expect(sent.firstMatch(of: /\r\nX-Request-ID: [0-9a-f]{16}\r\n/) != nil)
    }

    @Test(
        "a refusal carries the client's request ID once the head has been read, and a generated one before that",
        arguments: [
            ("POST /offer HTTP/1.1\r\nHost: a\r\nX-Request-ID: mine\r\nContent-Length: 99999\r\n\r\n", true),
            ("POST /offer HTTP/1.1\r\nHost: a\r\nX-Request-ID: mine\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", true),
            ("GET /health/live HTTP/1.1\r\nHost: a\r\nX-Request-ID: mine\r\n\r\nG(T / HTTP/1.1\r\n\r\n", false),
        ])
    func unreadable(text: String, isOwn: Bool) throws {
        let refusal = try #require(try Self.answers(to: Array(text.utf8)).split(separator: "HTTP/1.1 4").last)
        #expect(refusal.contains("X-Request-ID: mine\r\n") == isOwn)
        #expect(refusal.contains(#""requestID":"mine""#) == isOwn)
        #expect(isOwn || refusal.firstMatch(of: /"requestID":"[0-9a-f]{16}"/) != nil)
    }

    @Test("every log line of a request has its request ID and trace ID")
    func throughout() async throws {
        let failing = StubKeyPair(
            sign: { _ in throw CancellationError() }, verify: { _, _ in throw CancellationError() })
        let issuerIDs = try IssuerIDs(ofAllApps: Fixtures.issuerID())
        let (app, product, offerID) = try (
            BundleID(utf8: Array("a".utf8)), ProductID(utf8: Array("p".utf8)), OfferID(utf8: Array("o".utf8))
        )
        let unbound = Catalogue(
            apps: [app: Catalogue.App(offers: [product: [offerID]], allowsUnboundJWS: true)])
        let services = try [
            TestService(issuerIDs: issuerIDs),
            TestService(), TestService(pair: StubKeyPair(), issuerIDs: issuerIDs),
            TestService(pair: failing, issuerIDs: issuerIDs),
            TestService(catalogue: unbound, issuerIDs: issuerIDs),
            TestService(catalogue: Catalogue(apps: [:])),
            TestService(limits: .with(\.customers, 1, 1)),
        ]
        let offer = #"{"bundleID":"a","productID":"p","offerID":"o","applicationUsername":"u","transactionID":"1"}"#
        let evidence =
            #"{"bundleID":"a","productID":"p","offerID":"o","keyID":"x","nonce":"n","timestamp":1,"signature":"s"}"#
        let requests = [
            ("/v1/promotional-offers", offer),
            ("/v1/promotional-offers", offer.replacing(#","transactionID":"1""#, with: "")),
            ("/v1/promotional-offers", #"{"offers":[\#(offer),{}]}"#),
            ("/v1/advanced-commerce", #"{"bundleID":"a","request":{"operation":"x"}}"#), ("/v1/explanations", evidence),
            ("/nothing", ""),
        ]
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        let context = RequestContext(requestID: "marked", traceparent: "00-\(trace)-00f067aa0ba902b7-01")
        for service in services {
            for shedding in [LoadShedding.none, .all] {
                for (path, body) in requests {
                    let answer = await service.respondLater(
                        HTTPRequest(
                            method: "POST", target: path, contentType: "application/json", context: context,
                            body: Array(body.utf8)), shedding: shedding)
                    #expect(answer.requestID?.text == "marked")
                }
            }
        }
        let lines = services.flatMap { $0.log.text.split(separator: "\n") }
        for message in [
            "offer signed", "JWS signed", "offer in list refused", "offer not served", "ALARM",
            "signing failed", "signature explained", "without an issuer ID", "rate limit exceeded",
            "overloaded: shedding", "request refused",
        ] {
            #expect(lines.contains { $0.contains(message) }, "\(message)")
        }
        for line in lines {
            #expect(line.contains(#""requestID": marked"#) && line.contains(#""traceID": \#(trace)"#), "\(line)")
        }
    }
}
