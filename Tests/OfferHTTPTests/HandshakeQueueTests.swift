import NIOCore
import NIOEmbedded
import OfferHTTP
import Testing

@Suite("Handshake queue")
struct HandshakeQueueTests {
    private let loop = EmbeddedEventLoop()
    private let queue: HandshakeQueue

    init() {
        queue = HandshakeQueue(eventLoop: loop)
    }

    private func connect(onFirstBytes: @escaping () -> Void = {}) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(loop: loop)
        try channel.pipeline.syncOperations.addHandler(HandshakeGate(queue, onFirstBytes: onFirstBytes))
        channel.connect(to: try SocketAddress(ipAddress: "192.0.2.1", port: 1), promise: nil)
        return channel
    }

    /// Returns what each of the channels has passed on to its TLS handler.
    private func received(_ channels: [EmbeddedChannel]) throws -> [String] {
        try channels.map { channel in
            var text = ""
            while let bytes = try channel.readInbound(as: ByteBuffer.self) { text += String(buffer: bytes) }
            return text
        }
    }

    private func begun(_ channels: [EmbeddedChannel]) throws -> [Int] {
        let received = try received(channels)
        return channels.indices.filter { !received[$0].isEmpty }
    }

    @Test("handshakes begin in groups of eight, in order, and the loop reads in between")
    func groups() throws {
        let channels = try (0..<20).map { _ in try connect() }
        for channel in channels { channel.pipeline.fireChannelRead(ByteBuffer(string: "hello")) }
        #expect(try begun(channels) == Array(0..<8))
        loop.run()
        #expect(try begun(channels).isEmpty, "the loop first reads again")
        loop.advanceTime(by: .microseconds(20))
        #expect(try begun(channels) == Array(8..<16))
        loop.advanceTime(by: .microseconds(20))
        #expect(try begun(channels) == Array(16..<20))
        loop.advanceTime(by: .microseconds(40))
        let next = try connect()
        next.pipeline.fireChannelRead(ByteBuffer(string: "hello"))
        #expect(try begun([next]) == [0], "the queue is empty")
    }

    @Test("all that a waiting client has sent is passed on, in order, and nothing is read until then")
    func waiting() throws {
        for _ in 0..<8 { try connect().pipeline.fireChannelRead(ByteBuffer(string: "hello")) }
        let channel = try connect()
        channel.pipeline.fireChannelRead(ByteBuffer(string: "one"))
        channel.pipeline.fireChannelRead(ByteBuffer(string: "two"))
        #expect(try received([channel]) == [""])
        loop.advanceTime(by: .microseconds(20))
        #expect(try received([channel]) == ["onetwo"])
        channel.pipeline.fireChannelRead(ByteBuffer(string: "three"))
        #expect(try received([channel]) == ["three"])
    }

    @Test("a client that has sent only part of its first record does not get a turn yet")
    func incomplete() throws {
        var count = 0
        let channel = try connect { count += 1 }
        #expect(count == 0)
        let record: [UInt8] = [22, 3, 1, 0, 4] + [1, 2, 3, 4]
        for byte in record.dropLast() {
            channel.pipeline.fireChannelRead(ByteBuffer(bytes: [byte]))
            loop.advanceTime(by: .microseconds(20))
            #expect(try begun([channel]).isEmpty)
        }
        // Turns that others take now are not lost.
        let others = try (0..<8).map { _ in try connect() }
        for other in others { other.pipeline.fireChannelRead(ByteBuffer(string: "hello")) }
        #expect(try begun(others) == Array(0..<8))
        channel.pipeline.fireChannelRead(ByteBuffer(bytes: record.suffix(1)))
        #expect(try begun([channel]).isEmpty)
        loop.advanceTime(by: .microseconds(20))
        #expect(try received([channel]) == [String(decoding: record, as: UTF8.self)])
        #expect(count == 1)
    }

    @Test(
        "a record that is too long, and what is no TLS, is passed on at once",
        arguments: [[22, 3, 1, 0x40, 1], [0x47]])
    func notTLS(bytes: [UInt8]) throws {
        let channel = try connect()
        channel.pipeline.fireChannelRead(ByteBuffer(bytes: bytes))
        #expect(try begun([channel]) == [0])
    }

    @Test("a client that leaves while it waits costs no handshake")
    func leaving() throws {
        let channels = try (0..<18).map { _ in try connect() }
        for channel in channels { channel.pipeline.fireChannelRead(ByteBuffer(string: "hello")) }
        #expect(try begun(channels) == Array(0..<8))
        channels[8].close(promise: nil)
        channels[9].pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        loop.run()
        #expect(!channels[9].isActive)
        loop.advanceTime(by: .microseconds(20))
        #expect(try begun(channels) == Array(10..<18))
    }
}
