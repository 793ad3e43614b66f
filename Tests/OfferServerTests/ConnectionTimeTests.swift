import NIOCore
import NIOEmbedded
import NIOSSL
import OfferServer
import TestSupport
import Testing

/// How long a connection may take for what, on a clock that the test moves.
@Suite("Time of a connection")
struct ConnectionTimeTests {
    private struct Client {
        let channel: EmbeddedChannel
        let turn: LoopTurn

        init() throws {
            channel = EmbeddedChannel()
            turn = LoopTurn(eventLoop: channel.eventLoop, trail: nil)
            let routes = try TestRoutes(pair: Fixtures.makeSigningKey()).routes
            try channel.pipeline.syncOperations.addHandler(
                RequestHandler(routes: routes, date: HTTPDate(), turn: turn, connection: OpenConnection(channel)))
            channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
        }

        func send(_ text: String) throws { try channel.writeInbound(ByteBuffer(string: text)) }

        /// What has come back by now.
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

    @Test("who sends nothing is cut off within 40 s")
    func silence() throws {
        let client = try Client()
        client.wait(25)
        #expect(client.isOpen)
        client.wait(15)
        #expect(!client.isOpen)
        #expect(try client.received().isEmpty)
    }

    @Test(
        "who sends a request piece by piece is told 408 and cut off within 40 s, however the pieces come",
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

    @Test("empty lines do not keep a connection open, whole or by halves", arguments: [["\r\n"], ["\r", "\n"]])
    func emptyLines(pieces: [String]) throws {
        let client = try Client()
        for second in 0..<40 where client.isOpen {
            try client.send(pieces[second % pieces.count])
            client.wait(1)
        }
        #expect(!client.isOpen)
    }

    @Test("between two requests a connection stays open for longer than the 60 s of a proxy")
    func idle() throws {
        let client = try Client()
        try client.send(Self.live)
        client.wait(70)
        try client.send(Self.live)
        #expect(try client.received().split(separator: "HTTP/1.1 200").count == 2)
        client.wait(85)
        #expect(!client.isOpen)
    }

    @Test("no more requests are answered than the client takes answers, and the others when it does")
    func pipelining() throws {
        let client = try Client()
        client.channel.isWritable = false
        try client.send(Self.live + Self.live + Self.live)
        #expect(try client.received().isEmpty)
        client.channel.isWritable = true
        client.channel.pipeline.fireChannelWritabilityChanged()
        #expect(try client.received().split(separator: "HTTP/1.1 200").count == 3)
    }

    @Test("a request is answered that is followed by the end of TLS without a word")
    func uncleanShutdown() throws {
        let client = try Client()
        client.channel.pipeline.fireChannelRead(ByteBuffer(string: Self.live))
        client.channel.pipeline.fireErrorCaught(NIOSSLError.uncleanShutdown)
        client.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(try client.received().hasPrefix("HTTP/1.1 200 OK"))
    }

    @Test("a request that has waited for half a second behind others is refused, and health is not")
    func overload() throws {
        let client = try Client()
        let offer = #"{"appBundleID":"a","productIdentifier":"p","offerID":"o","applicationUsername":"u"}"#
        let request =
            "POST /offer HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: \(offer.count)\r\n\r\n\(offer)"
        client.wait(10)
        // As if another connection had been read 501 ms before, in the same turn.
        client.turn.begin(at: client.channel.eventLoop.now - .milliseconds(501))
        client.channel.pipeline.fireChannelRead(ByteBuffer(string: request + Self.live))
        let late = try client.received()
        #expect(late.hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))
        #expect(late.contains(#""code":"overloaded""#))
        #expect(late.contains("Retry-After: 2\r\n"))
        #expect(late.contains("HTTP/1.1 200 OK"))
        // The next turn begins anew.
        try client.send(request)
        #expect(try client.received().hasPrefix("HTTP/1.1 200 OK\r\n"))
    }
}
