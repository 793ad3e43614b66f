import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1

/// What a connection goes through: HTTP/1.1 as NIO reads it, and ``RequestHandler``.
///
/// Hummingbird accepts connections, keeps count of them and ends them when the service stops. Its own way from a
/// connection to a route is left out: it cost an offer 80 µs beside its cryptography, this one costs less than 20.
struct ConnectionSetup: ServerChildChannel {
    struct Connection: ServerChildChannelValue {
        let channel: any Channel
    }

    let routes: Routes
    let date: HTTPDate

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Connection> {
        channel.eventLoop.makeCompletedFuture {
            // One short read a turn, so that a client that sends hundreds of requests at once does not hold up others.
            try channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
            try channel.syncOptions?.setOption(
                .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 1024, initial: 2048, maximum: 16 * 1024)
            )
            let pipeline = channel.pipeline.syncOperations
            let gate = InputGate()
            try pipeline.addHandler(gate)
            try pipeline.addHandler(
                ByteToMessageHandler(
                    HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes, limitConfiguration: Self.limits)))
            try pipeline.addHandler(RequestHandler(routes: routes, date: date, gate: gate))
            return Connection(channel: channel)
        }
    }

    /// Returns when the connection has ended: Hummingbird waits for it before the service stops.
    func handle(value: Connection, logger: Logger) async {
        await withTaskCancellationHandler {
            try? await value.channel.closeFuture.get()
        } onCancel: {
            value.channel.close(promise: nil)
        }
    }

    private static var limits: NIOHTTPDecoderLimitConfiguration {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = 8 * 1024
        limits.maxHeaderListSize = 32 * 1024
        limits.maxHeaderFieldCount = 100
        return limits
    }
}
