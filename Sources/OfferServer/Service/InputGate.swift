import NIOCore

/// Stands in front of the HTTP parser and, once shut, drops what still comes. The parser itself keeps what follows a
/// request for another protocol (`Upgrade`, `CONNECT`), without bound and for nobody.
final class InputGate: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    var isOpen = true
    /// Whether something has come since the end of the last request: a part of the next one. A part that came in one
    /// packet with the request before it does not count, because the parser does not say how far it has read; a client
    /// that pipelines has to be ready to ask again (RFC 9112 section 9.3.2).
    var hasBegun = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard isOpen else { return }
        hasBegun = true
        context.fireChannelRead(data)
    }
}
