import Dispatch
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import OfferCore
import OfferCrypto
import OfferServer
import TestSupport
import Testing

/// What an event loop reads in one turn, answers together and sends together.
@Suite("Turns of an event loop")
struct LoopTurnTests {
    /// Takes the line in which the trail begins, and hangs from then on.
    private final class HangingStore: AuditStore {
        private var hasBegun = false
        var warning: SetupProblem? { nil }

        func append(_ write: (inout [UInt8], inout AuditChain) throws -> Void) throws(AuditFault) {
            if hasBegun { DispatchSemaphore(value: 0).wait() }
            hasBegun = true
        }
    }

    /// Does something when the first answers are sent, as a socket may that has others to read from then.
    private final class FirstFlush: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer
        var action: (() -> Void)?

        func flush(context: ChannelHandlerContext) {
            let action = action
            self.action = nil
            action?()
            context.flush()
        }
    }

    private final class CountingKeyPair: SigningKeyPair {
        let fingerprint = ""
        let count = NIOLockedValueBox(0)

        func sign(_ message: [UInt8]) -> [UInt8] {
            count.withLockedValue { $0 += 1 }
            return [1]
        }
        func verify(_ signature: [UInt8], of message: [UInt8]) -> Bool { true }
    }

    private static let live = "GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n"
    private static let offer =
        "GET /offer?appBundleID=a&productIdentifier=p&offerID=o&applicationUsername=u HTTP/1.1\r\nHost: a\r\n\r\n"

    private static func connect(
        _ turn: LoopTurn, _ routes: Routes, _ loop: EmbeddedEventLoop, through handlers: [any ChannelHandler] = []
    ) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(handlers: handlers, loop: loop)
        try channel.pipeline.syncOperations.addHandler(
            RequestHandler(routes: routes, date: HTTPDate(), turn: turn, connection: OpenConnection(channel)))
        channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
        return channel
    }

    private static func received(_ channel: EmbeddedChannel) throws -> String {
        var text = ""
        while let buffer = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: buffer) }
        return text
    }

    @Test("what is read while answers are sent overtakes none that waits for the audit trail")
    func readWhileSending() async throws {
        let trail = try await AuditTrail(
            store: HangingStore(), code: { $0 }, sha256: SHA256.hash(_:_:), now: { Fixtures.timestamp },
            readiness: Readiness(), metrics: ServiceMetrics(), log: RecordedLog().logger)
        let routes = try TestRoutes(pair: Fixtures.makeSigningKey(), trail: trail).routes
        let loop = EmbeddedEventLoop()
        let turn = LoopTurn(eventLoop: loop, trail: trail)
        let sending = FirstFlush()
        let one = try Self.connect(turn, routes, loop, through: [sending])
        let other = try Self.connect(turn, routes, loop)
        // 64 requests are answered together; while their answers are sent, there are 64 more.
        sending.action = {
            other.pipeline.fireChannelRead(ByteBuffer(string: String(repeating: Self.live, count: 63)))
            one.pipeline.fireChannelRead(ByteBuffer(string: Self.live))
        }
        one.pipeline.fireChannelRead(ByteBuffer(string: String(repeating: Self.live, count: 62)))
        other.pipeline.fireChannelRead(ByteBuffer(string: Self.live + Self.offer))
        loop.run()
        #expect(sending.action == nil)
        let received = try Self.received(other)
        #expect(received.ranges(of: "HTTP/1.1 200").count == 1 && !received.contains("signature"))
    }

    @Test(
        "an offer is signed when the turn ends, and not for a connection that is gone by then",
        arguments: [false, true])
    func gone(isGone: Bool) throws {
        let pair = CountingKeyPair()
        let loop = EmbeddedEventLoop()
        let channel = try Self.connect(
            LoopTurn(eventLoop: loop, trail: nil), TestRoutes(pair: pair).routes, loop)
        channel.pipeline.fireChannelRead(ByteBuffer(string: Self.offer))
        #expect(pair.count.withLockedValue { $0 } == 0)
        if isGone { channel.close(promise: nil) }
        loop.run()
        #expect(pair.count.withLockedValue { $0 } == (isGone ? 0 : 1))
    }
}
