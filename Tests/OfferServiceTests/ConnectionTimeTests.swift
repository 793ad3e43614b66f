import NIOCore
import NIOEmbedded
import NIOSSL
import OfferHTTP
import OfferService
import TestSupport
import Testing

/// Connection timeouts, tested with a clock that the test advances.
@Suite("Connection timeouts")
struct ConnectionTimeTests {
    private struct Client {
        let channel: EmbeddedChannel
        let batch: ResponseBatch
        private let connections: ConnectionSet

        init() throws {
            channel = EmbeddedChannel()
            let service = try TestService()
            batch = ResponseBatch(
                eventLoop: channel.eventLoop, responder: service.router, asyncLane: AsyncLane(), budget: .roomy)
            connections = ConnectionSet(limit: 10, batch: batch, budget: .roomy, metrics: service.metrics.connections)
            let connection = OpenConnection(channel, budget: .roomy)
            connections.add(connection)
            try channel.pipeline.syncOperations.addHandler(
                HTTP1Handler(responder: service.router, date: HTTPDate(), batch: batch, connection: connection))
            channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
        }

        func send(_ text: String) throws { try channel.writeInbound(ByteBuffer(string: text)) }

        /// Returns the bytes received so far.
        func received() throws -> String {
            channel.embeddedEventLoop.run()
            var text = ""
            while let buffer = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: buffer) }
            return text
        }

        func wait(_ seconds: Int64) { channel.embeddedEventLoop.advanceTime(by: .seconds(seconds)) }

        var isOpen: Bool { channel.isActive }
    }

    private static let live = "GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n"

    @Test("a silent client is cut off within 40 s")
    func silence() throws {
        let client = try Client()
        client.wait(25)
        #expect(client.isOpen)
        client.wait(15)
        #expect(!client.isOpen)
        #expect(try client.received().isEmpty)
    }

    @Test(
        "a client that sends a request piece by piece gets 408 and is cut off within 40 s",
        arguments: [
            "GET /health/live HTTP/1.1\r\nHost: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            "POST /offer HTTP/1.1\r\nHost: a\r\nContent-Length: 10000\r\n\r\n                              ",
            "POST /offer HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n1\r\na\r\n1\r\na\r\n1\r\na\r\n",
        ], ["", live])
    func slowRequest(text: String, before: String) throws {
        let client = try Client()
        try client.send(before)
        #expect(try client.received().isEmpty == before.isEmpty)
        for (index, byte) in text.enumerated() {
            if index % 2 == 0 { client.wait(1) }
            if client.isOpen { try client.send(String(byte)) }
        }
        #expect(try client.received().hasPrefix("HTTP/1.1 408 "))
        client.wait(5)
        #expect(!client.isOpen)
    }

    @Test("empty lines do not keep a connection open, even byte by byte", arguments: [["\r\n"], ["\r", "\n"]])
    func emptyLines(pieces: [String]) throws {
        let client = try Client()
        for second in 0..<40 where client.isOpen {
            try client.send(pieces[second % pieces.count])
            client.wait(1)
        }
        #expect(!client.isOpen)
    }

    @Test("an idle connection outlasts a proxy's 60 s idle timeout")
    func idle() throws {
        let client = try Client()
        try client.send(Self.live)
        client.wait(70)
        try client.send(Self.live)
        #expect(try client.received().split(separator: "HTTP/1.1 200").count == 2)
        client.wait(85)
        #expect(!client.isOpen)
    }

    @Test("requests are served only as fast as the client reads responses")
    func pipelining() throws {
        let client = try Client()
        client.channel.isWritable = false
        try client.send(Self.live + Self.live + Self.live)
        #expect(try client.received().isEmpty)
        client.channel.isWritable = true
        client.channel.pipeline.fireChannelWritabilityChanged()
        #expect(try client.received().split(separator: "HTTP/1.1 200").count == 3)
    }

    @Test("a request is answered even if the TLS connection ends without close_notify")
    func uncleanShutdown() throws {
        let client = try Client()
        client.channel.pipeline.fireChannelRead(ByteBuffer(string: Self.live))
        client.channel.pipeline.fireErrorCaught(NIOSSLError.uncleanShutdown)
        client.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(try client.received().hasPrefix("HTTP/1.1 200 OK"))
    }

    @Test("once requests have been answered for half a second, the rest are refused, except health checks")
    func overload() throws {
        let client = try Client()
        let offer = #"{"appBundleID":"a","productIdentifier":"p","offerID":"o","applicationUsername":"u"}"#
        let request =
            "POST /offer HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: \(offer.count)\r\n\r\n\(offer)"
        try client.send(request)
        #expect(try client.received().hasPrefix("HTTP/1.1 200 OK"), "the client is now known")
        client.wait(10)
        // Requests of other connections that were read together with this one.
        client.batch.noteAnswering(for: .milliseconds(501))
        client.channel.pipeline.fireChannelRead(ByteBuffer(string: request + Self.live))
        let late = try client.received()
        #expect(late.hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))
        #expect(late.contains(#""code":"overloaded""#))
        #expect(late.contains("Retry-After: 2\r\n"))
        #expect(late.contains("HTTP/1.1 200 OK"))
        // The next turn begins at zero.
        try client.send(request)
        #expect(try client.received().hasPrefix("HTTP/1.1 200 OK\r\n"))
    }
}
