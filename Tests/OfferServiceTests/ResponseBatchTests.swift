import Dispatch
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import OfferAudit
import OfferCore
import OfferHTTP
import OfferService
import OfferTelemetry
import TestSupport
import Testing

/// Requests that an event loop reads, answers and sends together in one turn.
@Suite("Event-loop turns")
struct LoopTurnTests {
    /// A store that accepts the first line of the trail and then hangs.
    private final class HangingStore: AuditStore {
        private var hasBegun = false
        var problems: [Diagnostic] { [] }
        var head: AuditChain { .beginning }

        func takeFindings() -> [AuditFinding] { [] }

        func checkLines() {}

        func append(_ write: (inout [UInt8], inout AuditChain) throws -> Void) throws(AuditFault) {
            if hasBegun { DispatchSemaphore(value: 0).wait() }
            hasBegun = true
        }
    }

    /// Runs a closure when the first responses are sent, as if a socket became readable at that moment.
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
        _ batch: ResponseBatch, _ router: Router, _ loop: EmbeddedEventLoop, through handlers: [any ChannelHandler] = []
    ) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(handlers: handlers, loop: loop)
        try channel.pipeline.syncOperations.addHandler(
            HTTP1Handler(
                responder: router, date: HTTPDate(), batch: batch, connection: OpenConnection(channel, budget: .roomy)))
        channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
        return channel
    }

    private static func received(_ channel: EmbeddedChannel) throws -> String {
        var text = ""
        while let buffer = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: buffer) }
        return text
    }

    @Test("a request read while responses are being sent does not overtake responses that wait for the audit trail")
    func readWhileSending() async throws {
        let trail = try await AuditTrail(
            store: HangingStore(), codes: AuditCodes(customer: { $0 }), now: { Fixtures.timestamp },
            readiness: Readiness(), metrics: ServiceMetrics().audit, log: RecordedLog().logger)
        let router = try TestService(parts: { $0.safeguards.trail = trail }).router
        let loop = EmbeddedEventLoop()
        let batch = ResponseBatch(eventLoop: loop, responder: router, asyncLane: AsyncLane(), budget: .roomy)
        let sending = FirstFlush()
        let one = try Self.connect(batch, router, loop, through: [sending])
        let other = try Self.connect(batch, router, loop)
        // 64 requests are answered together. While their responses are sent, 64 more arrive.
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

    @Test("strangers' connections take turns, so one with many requests does not delay the others")
    func turns() throws {
        let router = try TestService().router
        let loop = EmbeddedEventLoop()
        let batch = ResponseBatch(eventLoop: loop, responder: router, asyncLane: AsyncLane(), budget: .roomy)
        let busy = try (0..<30).map { _ in try Self.connect(batch, router, loop) }
        for channel in busy {
            channel.pipeline.fireChannelRead(ByteBuffer(string: String(repeating: Self.live, count: 4)))
        }
        let other = try Self.connect(batch, router, loop)
        other.pipeline.fireChannelRead(ByteBuffer(string: Self.live))
        loop.run()
        // 64 of the 121 requests have been answered.
        #expect(try Self.received(other).hasPrefix("HTTP/1.1 200"))
        #expect(try busy.map { try Self.received($0).ranges(of: "HTTP/1.1 200").count }.reduce(0, +) == 63)
    }

    @Test(
        "an offer is signed at the end of the turn, unless its connection has closed",
        arguments: [false, true])
    func gone(isGone: Bool) throws {
        let pair = CountingKeyPair()
        let loop = EmbeddedEventLoop()
        let router = try TestService(pair: pair).router
        let batch = ResponseBatch(eventLoop: loop, responder: router, asyncLane: AsyncLane(), budget: .roomy)
        let channel = try Self.connect(batch, router, loop)
        channel.pipeline.fireChannelRead(ByteBuffer(string: Self.offer))
        #expect(pair.count.withLockedValue { $0 } == 0)
        if isGone { channel.close(promise: nil) }
        loop.run()
        #expect(pair.count.withLockedValue { $0 } == (isGone ? 0 : 1))
    }
}
