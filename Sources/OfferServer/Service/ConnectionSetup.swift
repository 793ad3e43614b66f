import NIOCore
import NIOHTTP1

/// What a connection goes through: HTTP/1.1 as NIO reads it, and ``RequestHandler``.
struct ConnectionSetup: Sendable {
    let routes: Routes
    let date: HTTPDate

    /// - Parameter channel: one that has just been accepted, on its own event loop.
    func setUp(_ channel: any Channel) throws {
        // One short read a turn, so that a client that sends hundreds of requests at once does not hold up others.
        try channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
        try channel.syncOptions?.setOption(
            .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 1024, initial: 2048, maximum: 16 * 1024))
        let pipeline = channel.pipeline.syncOperations
        let gate = InputGate()
        try pipeline.addHandler(gate)
        try pipeline.addHandler(
            ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes, limitConfiguration: Self.limits))
        )
        try pipeline.addHandler(RequestHandler(routes: routes, date: date, gate: gate))
    }

    private static var limits: NIOHTTPDecoderLimitConfiguration {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = 8 * 1024
        limits.maxHeaderListSize = 32 * 1024
        limits.maxHeaderFieldCount = 100
        return limits
    }
}
