package import NIOCore
import OfferCore

/// One connection, as far as others have to know of it. Belongs to its event loop.
package final class OpenConnection {
    let channel: any Channel
    /// Where it comes from; nil if the kernel does not say.
    let peer: IPAddress?
    /// When the last request was answered, or else the connection was made.
    private(set) var lastRequest: NIODeadline
    private(set) var hasAnswered = false

    package init(_ channel: any Channel) {
        self.channel = channel
        lastRequest = channel.eventLoop.now
        peer = channel.remoteAddress?.ipAddress.flatMap { IPAddress($0) }
    }

    func noteAnswer(at time: NIODeadline) {
        lastRequest = time
        hasAnswered = true
    }
}
