import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import OfferCore
import OfferHTTP
import OfferService
import OfferTelemetry
import TestSupport
import Testing

/// HTTP/2 connections (RFC 9113), tested frame by frame with a clock that the test advances.
@Suite("HTTP/2 connections")
struct HTTP2ConnectionTests {
    private struct Frame: Equatable {
        let type: UInt8
        let flags: UInt8
        let stream: UInt32
        let payload: [UInt8]

        static let data: UInt8 = 0
        static let headers: UInt8 = 1
        static let reset: UInt8 = 3
        static let goAway: UInt8 = 7
    }

    private final class Client {
        let channel = EmbeddedChannel()
        private var unread: [UInt8] = []

        convenience init() throws { try self.init(TestService().router) }

        init(_ responder: any Responder, budget: MemoryBudget = .roomy) throws {
            let setup = ConnectionSetup(
                responder: responder, certificate: CurrentCertificate(nil), readiness: Readiness(),
                asyncLane: AsyncLane(), metrics: .unregistered, budget: budget, sources: .unlimited,
                group: channel.eventLoop, maximumConnections: 10)
            channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
            try setup.addHTTP2(setup.add(channel))
            try send(Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8))
            try send(type: 4, flags: 0, stream: 0, [])
            _ = try frames()
        }

        func send(_ bytes: [UInt8]) throws { try channel.writeInbound(ByteBuffer(bytes: bytes)) }

        func send(type: UInt8, flags: UInt8, stream: UInt32, _ payload: [UInt8]) throws {
            var frame = [
                UInt8(payload.count >> 16), UInt8(payload.count >> 8 & 0xFF), UInt8(payload.count & 0xFF), type, flags,
            ]
            frame += (0..<4).map { UInt8(stream >> (24 - 8 * $0) & 0xFF) }
            try send(frame + payload)
        }

        /// - Parameter fields: additional fields, literal without indexing (RFC 7541 section 6.2.2).
        func begin(
            stream: UInt32, _ fields: [(String, String)] = [], authority: String = "a", ends: Bool = false
        ) throws {
            let all = [
                (":method", "POST"), (":scheme", "https"), (":authority", authority), (":path", "/offer"),
                ("content-type", "application/json"),
            ]
            var block: [UInt8] = []
            for (name, value) in all + fields {
                block += [0, UInt8(name.utf8.count)] + Array(name.utf8) + [UInt8(value.utf8.count)] + Array(value.utf8)
            }
            try send(type: Frame.headers, flags: ends ? 5 : 4, stream: stream, block)
        }

        func finish(stream: UInt32) throws {
            let body = #"{"appBundleID":"a","productID":"p","offerID":"o","applicationUsername":"u"}"#
            try send(type: Frame.data, flags: 1, stream: stream, Array(body.utf8))
        }

        func wait(_ seconds: Int64) { channel.embeddedEventLoop.advanceTime(by: .seconds(seconds)) }

        /// Returns the bytes received so far.
        func frames() throws -> [Frame] {
            channel.embeddedEventLoop.run()
            while let buffer = try channel.readOutbound(as: ByteBuffer.self) { unread += buffer.readableBytesView }
            var frames: [Frame] = []
            while unread.count >= 9 {
                let size = Int(unread[0]) << 16 | Int(unread[1]) << 8 | Int(unread[2])
                let stream = unread[5..<9].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
                frames.append(
                    Frame(type: unread[3], flags: unread[4], stream: stream, payload: Array(unread[9..<9 + size])))
                unread.removeFirst(9 + size)
            }
            return frames
        }

        /// Whether the frames contain a complete offer on a stream.
        static func isSigned(_ stream: UInt32, in frames: [Frame]) -> Bool {
            frames.contains {
                $0.type == Frame.data && $0.stream == stream && $0.flags & 1 == 1
                    && String(decoding: $0.payload, as: UTF8.self).contains("\"signature\"")
            }
        }
    }

    /// A responder whose responses wait until the test calls `end()`. A leaked stream handler would keep it in memory.
    private final class Committing: Responder, CommitLog {
        let completions = NIOLockedValueBox<[@Sendable (Bool) -> Void]>([])

        func reply(to request: HTTPRequest, shedding: LoadShedding) -> Reply {
            .after(Commit(log: self, positions: 1...1)) { _ in HTTPResponse(body: []) }
        }

        func response(to fault: RequestFault, context: RequestContext) -> HTTPResponse { HTTPResponse(body: []) }

        func write(_ commit: Commit, completion: @escaping @Sendable (Bool) -> Void) {
            completions.withLockedValue { $0.append(completion) }
        }

        func end() {
            let all = completions.withLockedValue { completions in
                defer { completions = [] }
                return completions
            }
            for completion in all { completion(true) }
        }
    }

    private static func lastStream(of goAway: Frame?) -> UInt32? {
        goAway?.payload.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    }

    @Test("a connection in use stays open; an idle one gets GOAWAY with the last stream within 40 s")
    func idle() throws {
        let client = try Client()
        for index in 0..<10 as Range<UInt32> {
            let stream = index * 2 + 1
            try client.begin(stream: stream)
            client.wait(10)
            try client.finish(stream: stream)
            let frames = try client.frames()
            #expect(Client.isSigned(stream, in: frames))
        }
        client.wait(25)
        #expect(client.channel.isActive)
        client.wait(15)
        let goAways = try client.frames().filter { $0.type == Frame.goAway }
        #expect(goAways.map { Self.lastStream(of: $0) } == [19])
        #expect(!client.channel.isActive)
    }

    /// A responder that notes the keys of requests.
    private final class Noting: Responder {
        let keys = NIOLockedValueBox<[String?]>([])

        func reply(to request: HTTPRequest, shedding: LoadShedding) -> Reply {
            keys.withLockedValue { $0.append(request.idempotencyKey) }
            return .now(HTTPResponse.noContent)
        }

        func response(to fault: RequestFault, context: RequestContext) -> HTTPResponse { HTTPResponse(body: []) }
    }

    @Test("the Idempotency-Key reaches the service, and several are no key")
    func idempotencyKey() throws {
        let noting = Noting()
        let client = try Client(noting)
        let names: [[String]] = [[], ["a"], ["a", "b"]]
        for (index, keys) in names.enumerated() {
            let stream = UInt32(index * 2 + 1)
            try client.begin(stream: stream, keys.map { ("idempotency-key", $0) })
            try client.finish(stream: stream)
            _ = try client.frames()
        }
        #expect(noting.keys.withLockedValue { $0 } == [nil, "a", ""])
    }

    @Test("streams opened before or just after shutdown begins are answered")
    func stop() throws {
        let client = try Client()
        try client.begin(stream: 1)
        client.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        try client.begin(stream: 3)
        client.wait(2)
        try client.finish(stream: 3)
        try client.finish(stream: 1)
        let frames = try client.frames()
        #expect(Client.isSigned(1, in: frames) && Client.isSigned(3, in: frames))
        #expect(Self.lastStream(of: frames.last { $0.type == Frame.goAway }) == 3)
        #expect(!client.channel.isActive)
    }

    @Test(
        "an unfinished request keeps a connection open for at most 10 s after shutdown or a half-close",
        arguments: [ChannelShouldQuiesceEvent(), ChannelEvent.inputClosed] as [any Sendable])
    func endWithin(event: any Sendable) throws {
        let client = try Client()
        try client.begin(stream: 1)
        client.channel.pipeline.fireUserInboundEventTriggered(event)
        client.wait(11)
        #expect(!client.channel.isActive)
    }

    @Test("a client that half-closes after a request gets its response before the connection closes")
    func halfClosed() throws {
        let client = try Client()
        try client.begin(stream: 1)
        try client.finish(stream: 1)
        client.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        let frames = try client.frames()
        #expect(Client.isSigned(1, in: frames))
        client.wait(1)
        #expect(!client.channel.isActive)
    }

    @Test("a head with too many fields is refused when it arrives, and takes no memory until its body ends")
    func manyFields() throws {
        let budget = MemoryBudget(limit: 1 << 30)
        let client = try Client(TestService().router, budget: budget)
        let before = budget.usedBytes
        for stream in 0..<20 as Range<UInt32> {
            try client.begin(stream: stream * 2 + 1, Array(repeating: ("a", "b"), count: 400))
        }
        #expect(budget.usedBytes - before < 20 * 10 * 1024)
        let frames = try client.frames()
        let refused = frames.filter {
            $0.type == Frame.data && String(decoding: $0.payload, as: UTF8.self).contains("malformed_http")
        }
        #expect(refused.count == 20, "\(frames)")
    }

    @Test("a field that the service keeps counts in full while the body is awaited")
    func largeField() throws {
        let budget = MemoryBudget(limit: 1 << 30)
        let client = try Client(TestService().router, budget: budget)
        let before = budget.usedBytes
        let fields = Array(repeating: ("x-forwarded-for", String(repeating: "1", count: 100)), count: 90)
        for stream in 0..<10 as Range<UInt32> { try client.begin(stream: stream * 2 + 1, fields) }
        #expect(budget.usedBytes - before >= 10 * 9_000 + 10 * 8 * 1024)
        client.channel.close(promise: nil)
        _ = try client.frames()
        #expect(budget.usedBytes == 0)
    }

    @Test("unfinished bodies on one connection take at most 1.5 MiB; further requests get 503")
    func manyBodies() throws {
        let budget = MemoryBudget(limit: 1 << 30)
        let client = try Client(TestService().router, budget: budget)
        for stream in 0..<60 as Range<UInt32> {
            try client.begin(stream: stream * 2 + 1)
            for _ in 0..<3 {
                let piece = [UInt8](repeating: 0x20, count: 10_000)
                try client.send(type: Frame.data, flags: 0, stream: stream * 2 + 1, piece)
            }
        }
        // The bodies, and 8 KiB for each stream.
        #expect(budget.usedBytes <= (1536 + 60 * 8 + 96) * 1024)
        let frames = try client.frames()
        #expect(
            frames.contains { $0.type == Frame.data && String(decoding: $0.payload, as: UTF8.self).contains("503") })
        client.channel.close(promise: nil)
        _ = try client.frames()
        #expect(budget.usedBytes == 0)
    }

    @Test("a stream error does not affect other streams")
    func streamError() throws {
        let client = try Client()
        try client.begin(stream: 1)
        try client.begin(stream: 3, [("content-length", "5")])
        try client.finish(stream: 3)
        try client.begin(stream: 5, [("Upper", "case")])
        try client.finish(stream: 1)
        let frames = try client.frames()
        #expect(Client.isSigned(1, in: frames))
        #expect(frames.filter { $0.type == Frame.reset }.map(\.stream) == [3, 5])
    }

    @Test("a stream that is reset before its response does not leak memory", arguments: [0, 1, 2])
    func reset(turnsBefore: Int) throws {
        weak var handler: Committing?
        do {
            let responder = Committing()
            handler = responder
            let client = try Client(responder)
            try client.begin(stream: 1, ends: true)
            if turnsBefore > 0 { client.channel.embeddedEventLoop.run() }
            #expect(responder.completions.withLockedValue(\.count) == min(1, turnsBefore))
            if turnsBefore > 1 { responder.end() }
            // CANCEL (RFC 9113 section 7).
            try client.send(type: Frame.reset, flags: 0, stream: 1, [0, 0, 0, 8])
            responder.end()
            _ = try client.frames()
            client.channel.close(promise: nil)
            _ = try client.frames()
        }
        #expect(handler == nil)
    }

    @Test("a half-close during shutdown does not extend the 10 s limit")
    func endOnce() throws {
        let client = try Client()
        try client.begin(stream: 1)
        client.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        client.wait(9)
        client.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        client.wait(2)
        #expect(!client.channel.isActive)
    }

    @Test(
        "a request that arrives byte by byte or stalls gets 408 and is cut off within 40 s",
        arguments: [true, false])
    func slowRequest(drips: Bool) throws {
        let client = try Client()
        try client.begin(stream: 1)
        for _ in 0..<40 {
            client.wait(1)
            if drips, client.channel.isActive { try client.send(type: Frame.data, flags: 0, stream: 1, [0x20]) }
        }
        let frames = try client.frames()
        #expect(
            frames.contains { $0.type == Frame.data && String(decoding: $0.payload, as: UTF8.self).contains("408") })
        #expect(!client.channel.isActive)
    }

    @Test("a client that does not read a response is cut off within 40 s")
    func untakenAnswer() throws {
        let client = try Client()
        // SETTINGS_INITIAL_WINDOW_SIZE is 0, so no body may be sent.
        try client.send(type: 4, flags: 0, stream: 0, [0, 4, 0, 0, 0, 0])
        try client.begin(stream: 1)
        try client.finish(stream: 1)
        client.wait(40)
        #expect(!client.channel.isActive)
    }

    @Test(
        "requests that are refused over HTTP/1.1 are also refused over HTTP/2",
        arguments: [
            [("content-length", "+75")], [("content-length", "75"), ("content-length", "75")], [("expect", "x")],
            [("host", "b")],
        ])
    func sameMeaning(fields: [(String, String)]) throws {
        #expect(try Self.isMalformed(Self.frames(fields)))
    }

    /// The frames that answer one whole request.
    private static func frames(_ fields: [(String, String)] = [], authority: String = "a") throws -> [Frame] {
        let client = try Client()
        try client.begin(stream: 1, fields, authority: authority)
        try client.finish(stream: 1)
        return try client.frames()
    }

    /// Whether the request is refused as malformed, with a response or a reset.
    private static func isMalformed(_ frames: [Frame]) -> Bool {
        !Client.isSigned(1, in: frames)
            && frames.contains {
                $0.type == Frame.reset || String(decoding: $0.payload, as: UTF8.self).contains("malformed_http")
            }
    }

    @Test(
        "a malformed authority is refused, as a malformed Host is",
        arguments: ["a b", "a:b", "user@a", "[::1", "a/b", "a:80:80", "%zz"])
    func authority(text: String) throws {
        #expect(try Self.isMalformed(Self.frames(authority: text)))
        #expect(try Client.isSigned(1, in: Self.frames(authority: "[::1]:8443")))
    }
}
