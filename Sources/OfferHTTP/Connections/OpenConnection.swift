package import NIOCore
import NIOSSL
import OfferCore

/// A connection in the ``ConnectionSet`` of its event loop. It belongs to that loop.
package final class OpenConnection {
    let channel: any Channel
    /// The peer's address; nil if the kernel does not report one.
    let peer: IPAddress?
    /// When the last request was read or, if there was none, when the connection was opened.
    private(set) var lastRequest: NIODeadline
    private(set) var hasRequested = false
    /// Response bytes on HTTP/2 streams that the client has not read yet.
    var unsentBytes = 0
    /// The deadline of the TLS handshake; nil without TLS and after the handshake.
    var handshakeDeadline: NIODeadline?
    /// The handler that checks the time limits after the handshake.
    weak var handler: (any TimedHandler)?

    package init(_ channel: any Channel) {
        self.channel = channel
        lastRequest = channel.eventLoop.now
        peer = channel.remoteAddress?.ipAddress.flatMap { IPAddress($0) }
    }

    /// Closes the connection immediately. An orderly TLS shutdown would hold the descriptor until the client agrees.
    func drop() {
        if let tls = try? channel.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self) {
            tls.close(promise: nil)
        } else {
            channel.close(promise: nil)
        }
    }

    package func noteRequest(at time: NIODeadline) {
        lastRequest = time
        hasRequested = true
    }

    func checkTime(_ now: NIODeadline) {
        if let handshakeDeadline, now >= handshakeDeadline { return channel.close(promise: nil) }
        handler?.checkTime(now)
    }
}

/// A handler that enforces ``TimeLimit``s each time its connection is checked.
protocol TimedHandler: AnyObject {
    func checkTime(_ now: NIODeadline)
}
