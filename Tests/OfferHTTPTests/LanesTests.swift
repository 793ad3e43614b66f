import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import OfferCore
import OfferHTTP
import TestSupport
import Testing

/// Immediate, committed and asynchronous responses on one connection.
@Suite("Response lanes", .timeLimit(.minutes(30)))
struct LanesTests {
    /// A handler that chooses the lane by path: `/now`, `/after`, `/later`.
    private final class Lanes: Responder {
        let log = ManualLog()

        func reply(to request: HTTPRequest, shedding: LoadShedding) -> Reply {
            request.standing?.note(.caller)
            let body = Array("\(request.path)\n".utf8)
            switch request.path {
            case "/after":
                return .after(Commit(log: log, positions: 1...1)) {
                    HTTPResponse(status: $0 ? 200 : 503, body: $0 ? body : [])
                }
            case "/later":
                return .later({ { HTTPResponse(body: body) } }, timedOut: { HTTPResponse(status: 503, body: []) })
            default: return .now(HTTPResponse(body: body))
            }
        }

        func response(to fault: RequestFault, context: RequestContext) -> HTTPResponse {
            HTTPResponse(status: 400, body: [])
        }
    }

    /// A log whose entries become durable when the test says so.
    private final class ManualLog: CommitLog {
        let completions = NIOLockedValueBox<[@Sendable (Bool) -> Void]>([])

        func write(_ commit: Commit, completion: @escaping @Sendable (Bool) -> Void) {
            completions.withLockedValue { $0.append(completion) }
        }

        func end(isDurable: Bool) {
            for completion in completions.withLockedValue({ $0 }) { completion(isDurable) }
        }
    }

    private let loop = EmbeddedEventLoop()
    private let lanes = Lanes()
    /// This lane is never run, so asynchronous responses do not complete.
    private let asyncLane = AsyncLane()
    private let batch: ResponseBatch
    private let connections: ConnectionSet
    private let metrics = ConnectionMetrics.unregistered
    /// More memory than the tests need.
    private let budget = MemoryBudget(limit: 1 << 30)

    init() {
        batch = ResponseBatch(eventLoop: loop, responder: lanes, asyncLane: asyncLane, budget: budget)
        connections = ConnectionSet(limit: 10, batch: batch, budget: budget, metrics: metrics)
    }

    private func connect() throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(loop: loop)
        let connection = OpenConnection(channel, budget: budget)
        connections.add(connection)
        try channel.pipeline.syncOperations.addHandler(
            HTTP1Handler(responder: lanes, date: HTTPDate(), batch: batch, connection: connection))
        channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
        return channel
    }

    private func send(_ paths: String..., on channel: EmbeddedChannel) throws { try send(paths, on: channel) }

    private func send(_ paths: [String], on channel: EmbeddedChannel) throws {
        let requests = paths.map { "GET \($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined()
        channel.pipeline.fireChannelRead(ByteBuffer(string: requests))
        loop.run()
    }

    /// The bodies received since the last call, in order. For an empty body, this is the status instead.
    private func received(_ channel: EmbeddedChannel) throws -> [String] {
        loop.run()
        var text = ""
        while let buffer = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: buffer) }
        return text.matches(of: /HTTP\/1.1 (\d+)[^\0]*?\r\n\r\n(\/\w+)?/).map {
            $0.output.2.map(String.init) ?? String($0.output.1)
        }
    }

    @Test("a response on the asynchronous lane does not delay other connections")
    func otherConnections() throws {
        let (slow, quick) = (try connect(), try connect())
        try send("/later", on: slow)
        try send("/now", "/now", on: quick)
        #expect(try received(quick) == ["/now", "/now"])
        #expect(try received(slow) == [])
    }

    @Test("a response that takes longer than 30 s is replaced by 503, and the responses queued behind it follow")
    func timeLimit() throws {
        let channel = try connect()
        try send("/later", "/now", on: channel)
        loop.advanceTime(by: .seconds(30))
        #expect(try received(channel) == [])
        loop.advanceTime(by: .seconds(1))
        #expect(try received(channel) == ["503", "/now"])
        try send("/now", on: channel)
        #expect(try received(channel) == ["/now"], "the connection stays open")
    }

    @Test("a connection with Connection: close stays open until its last response is sent")
    func lastResponse() throws {
        let channel = try connect()
        channel.pipeline.fireChannelRead(
            ByteBuffer(string: "GET /later HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"))
        loop.run()
        loop.advanceTime(by: .seconds(31))
        #expect(try received(channel) == ["503"])
    }

    @Test("a client's timeouts start only after its responses are sent")
    func clientTime() throws {
        let channel = try connect()
        try send("/later", on: channel)
        loop.advanceTime(by: .seconds(31))
        #expect(try received(channel) == ["503"])
        loop.advanceTime(by: .seconds(70))
        #expect(channel.isActive, "an idle connection is kept for 75 seconds after the response")
        // Enough requests that some are read only after a response has been written.
        try send(Array(repeating: "/later", count: 64) + ["/now"], on: channel)
        channel.read()
        loop.advanceTime(by: .seconds(31))
        #expect(try received(channel) == Array(repeating: "503", count: 64) + ["/now"])
    }

    @Test("a request is refused immediately once the asynchronous lane has shut down")
    func endedLane() throws {
        asyncLane.finish()
        let channel = try connect()
        try send("/later", "/now", on: channel)
        #expect(try received(channel) == ["503", "/now"])
    }

    @Test("a response is sent only if its commit succeeds", arguments: [true, false])
    func commit(isDurable: Bool) throws {
        let channel = try connect()
        try send("/after", "/now", on: channel)
        #expect(try received(channel) == [])
        lanes.log.end(isDurable: isDurable)
        #expect(try received(channel) == [isDurable ? "/after" : "503", "/now"])
        lanes.log.end(isDurable: true)
        #expect(try received(channel) == [], "a second outcome has no effect")
    }

    @Test("a commit that takes longer than two seconds counts as failed, even if it completes later")
    func slowCommit() throws {
        let channel = try connect()
        try send("/after", on: channel)
        loop.advanceTime(by: .seconds(3))
        #expect(try received(channel) == ["503"])
        lanes.log.end(isDurable: true)
        #expect(try received(channel) == [])
    }

    @Test("entries from one event-loop turn are committed together")
    func oneWrite() throws {
        let channels = [try connect(), try connect()]
        for channel in channels {
            channel.pipeline.fireChannelRead(
                ByteBuffer(string: String(repeating: "GET /after HTTP/1.1\r\nHost: a\r\n\r\n", count: 3)))
        }
        loop.run()
        #expect(lanes.log.completions.withLockedValue { $0.count } == 1)
        lanes.log.end(isDurable: true)
        for channel in channels { #expect(try received(channel).count == 3) }
    }
}
