import NIOCore
import NIOEmbedded
import NIOHPACK
import OfferCore
import OfferHTTP
import OfferTelemetry

/// One connection of a server in memory.
struct EmbeddedServer {
    struct Frame {
        let type: UInt8
        let flags: UInt8
        let payload: ArraySlice<UInt8>
    }

    private let channel = EmbeddedChannel()
    private let setup: ConnectionSetup
    private let connection: OpenConnection

    init(_ responder: any Responder) throws {
        setup = ConnectionSetup(
            responder: responder, certificate: CurrentCertificate(nil), readiness: Readiness(),
            asyncLane: AsyncLane(), metrics: .unregistered, budget: MemoryBudget(limit: 1 << 30),
            sources: ConnectionSources {
                ConnectionSources.Rules(limits: Limits(), proxies: TrustedProxies(arePeersProxies: true))
            },
            group: channel.eventLoop, maximumConnections: 10)
        channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
        connection = setup.add(channel)
    }

    /// Returns the responses to requests over HTTP/1.1.
    func answerHTTP1(_ requests: String) throws -> String {
        try setup.addHTTP1(connection)
        try channel.writeInbound(ByteBuffer(string: requests))
        return String(decoding: try received(), as: UTF8.self)
    }

    /// Returns the frames of the response to a request without a body over HTTP/2.
    func answerHTTP2(_ request: HPACKHeaders) throws -> [Frame] {
        try setup.addHTTP2(connection)
        var encoder = HPACKEncoder(allocator: ByteBufferAllocator())
        var block = ByteBuffer()
        try encoder.encode(headers: request, to: &block)
        let size = block.readableBytes
        try channel.writeInbound(ByteBuffer(string: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
        try channel.writeInbound(ByteBuffer(bytes: [0, 0, 0, 4, 0, 0, 0, 0, 0]))
        try channel.writeInbound(
            ByteBuffer(bytes: [0, UInt8(size >> 8), UInt8(size & 0xFF), 1, 5, 0, 0, 0, 1] + block.readableBytesView))
        var bytes = try received()[...]
        var frames: [Frame] = []
        while bytes.count >= 9 {
            let header = Array(bytes.prefix(9))
            let size = Int(header[0]) << 16 | Int(header[1]) << 8 | Int(header[2])
            if header[8] == 1 {
                frames.append(Frame(type: header[3], flags: header[4], payload: bytes.dropFirst(9).prefix(size)))
            }
            bytes = bytes.dropFirst(9 + size)
        }
        return frames
    }

    /// Decodes the headers of a frame.
    static func headers(of frame: Frame) throws -> HPACKHeaders {
        var decoder = HPACKDecoder(allocator: ByteBufferAllocator())
        var payload = ByteBuffer(bytes: frame.payload)
        return try decoder.decodeHeaders(from: &payload)
    }

    private func received() throws -> [UInt8] {
        channel.embeddedEventLoop.run()
        var bytes: [UInt8] = []
        while let buffer = try channel.readOutbound(as: ByteBuffer.self) { bytes += buffer.readableBytesView }
        return bytes
    }
}
