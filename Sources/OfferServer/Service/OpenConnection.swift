package import NIOCore
import NIOSSL
import OfferCore

/// One connection, as far as others have to know of it. Belongs to its event loop.
package final class OpenConnection {
    let channel: any Channel
    /// Where it comes from; nil if the kernel does not say.
    let peer: IPAddress?
    /// When the last request was read, or else the connection was made.
    private(set) var lastRequest: NIODeadline
    private(set) var hasRequested = false
    /// Bytes of answers over HTTP/2 that the client has not taken yet.
    var unsentBytes = 0

    package init(_ channel: any Channel) {
        self.channel = channel
        lastRequest = channel.eventLoop.now
        peer = channel.remoteAddress?.ipAddress.flatMap { IPAddress($0) }
    }

    /// Closes it at once. TLS would first wait for the client to agree, and keep the descriptor meanwhile.
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
}
