import NIOCore
import NIOEmbedded
import NIOHPACK
import OfferCore
import OfferHTTP
import OfferTelemetry
import TestSupport
import Testing

/// A 204 has no content, so it has neither Content-Type nor Content-Length (RFC 9110 section 8.6).
@Suite("A response without content")
struct NoContentTests {
    private struct NoContent: Responder {
        func reply(to request: HTTPRequest, shedding: LoadShedding) -> Reply { .now(.noContent) }
        func response(to fault: RequestFault, context: RequestContext) -> HTTPResponse { .noContent }
    }

    private static func setup(_ channel: EmbeddedChannel) throws -> (ConnectionSetup, OpenConnection) {
        let setup = ConnectionSetup(
            responder: NoContent(), certificate: CurrentCertificate(nil), readiness: Readiness(),
            asyncLane: AsyncLane(), metrics: .unregistered, budget: MemoryBudget(limit: 1 << 30),
            sources: ConnectionSources {
                ConnectionSources.Rules(limits: Limits(), proxies: TrustedProxies(arePeersProxies: true))
            },
            group: channel.eventLoop, maximumConnections: 10)
        channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
        return (setup, setup.add(channel))
    }

    private static func received(_ channel: EmbeddedChannel) throws -> [UInt8] {
        channel.embeddedEventLoop.run()
        var bytes: [UInt8] = []
        while let buffer = try channel.readOutbound(as: ByteBuffer.self) { bytes += buffer.readableBytesView }
        return bytes
    }

    @Test("over HTTP/1.1 it ends with its head, and the next response follows")
    func http1() throws {
        let channel = EmbeddedChannel()
        let (setup, connection) = try Self.setup(channel)
        try setup.addHTTP1(connection)
        try channel.writeInbound(ByteBuffer(string: String(repeating: "PUT / HTTP/1.1\r\nHost: a\r\n\r\n", count: 2)))
        let text = String(decoding: try Self.received(channel), as: UTF8.self)
        let heads = text.split(separator: "\r\n\r\n", omittingEmptySubsequences: false)
        #expect(heads.count == 3 && heads.last == "")
        for head in heads.dropLast() {
            #expect(head.hasPrefix("HTTP/1.1 204 No Content\r\n"))
            #expect(head.contains("Cache-Control: no-store") && head.contains("Date: "))
            #expect(!head.lowercased().contains("content-"))
        }
    }

    @Test("over HTTP/2 the headers end the stream")
    func http2() throws {
        let channel = EmbeddedChannel()
        let (setup, connection) = try Self.setup(channel)
        try setup.addHTTP2(connection)
        var encoder = HPACKEncoder(allocator: ByteBufferAllocator())
        var block = ByteBuffer()
        try encoder.encode(
            headers: [":method": "PUT", ":scheme": "https", ":authority": "a", ":path": "/"], to: &block)
        try channel.writeInbound(ByteBuffer(string: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
        try channel.writeInbound(ByteBuffer(bytes: [0, 0, 0, 4, 0, 0, 0, 0, 0]))
        try channel.writeInbound(
            ByteBuffer(bytes: [0, 0, UInt8(block.readableBytes), 1, 5, 0, 0, 0, 1] + block.readableBytesView))
        var bytes = try Self.received(channel)[...]
        var frames: [(type: UInt8, flags: UInt8, payload: ArraySlice<UInt8>)] = []
        while bytes.count >= 9 {
            let header = Array(bytes.prefix(9))
            let size = Int(header[0]) << 16 | Int(header[1]) << 8 | Int(header[2])
            if header[8] == 1 { frames.append((header[3], header[4], bytes.dropFirst(9).prefix(size))) }
            bytes = bytes.dropFirst(9 + size)
        }
        #expect(frames.count == 1, "no DATA follows")
        let headers = try #require(frames.first)
        #expect(headers.type == 1 && headers.flags & 1 == 1)
        var decoder = HPACKDecoder(allocator: ByteBufferAllocator())
        var payload = ByteBuffer(bytes: headers.payload)
        let fields = try decoder.decodeHeaders(from: &payload)
        #expect(fields.first(name: ":status") == "204")
        #expect(!fields.contains { $0.name.hasPrefix("content-") })
    }
}
