package import NIOCore
import NIOSSL
import OfferCore

/// A connection in the ``ConnectionSet`` of its event loop. It belongs to that loop.
package final class OpenConnection {
    let channel: any Channel
    /// The peer's address; nil if the kernel does not report one.
    let peer: IPAddress?
    package let standing = ClientStanding()
    /// The time at which the last request was read or, if there was none, the connection was opened.
    private(set) var lastRequest: NIODeadline
    private(set) var hasRequested = false
    /// The memory that the connection itself takes, in bytes.
    var ownBytes = OpenConnection.plainBytes { didSet { charge() } }
    /// Request bytes that wait to be read or answered.
    var requestBytes = 0 { didSet { charge() } }
    /// Response bytes that the client has not read yet.
    var unsentBytes = 0 { didSet { charge() } }
    /// The requests of a client that has not authenticated. They wait for the connection's turn.
    var waiting = CircularBuffer<(exchange: Exchange, arrived: NIODeadline)>()
    /// The bytes charged to the budget.
    private(set) var chargedBytes = 0
    /// The deadline of the TLS handshake; nil without TLS and after the handshake.
    var handshakeDeadline: NIODeadline?
    /// The handler that checks the time limits after the handshake.
    weak var handler: (any TimedHandler)?
    private var isEncrypted = false
    private let budget: MemoryBudget
    private var isClosed = false

    /// The limit for request bytes of one connection. The largest request has a body of 1 MiB.
    static let maximumRequestBytes = 1536 * 1024
    var hasTooManyRequestBytes: Bool { requestBytes > Self.maximumRequestBytes }
    /// The memory that a connection takes without TLS and with TLS, in bytes. In a release build, a thousand idle
    /// connections with TLS take 24 KiB each.
    private static let plainBytes = 8 * 1024
    private static let tlsBytes = 32 * 1024

    package init(_ channel: any Channel, budget: MemoryBudget) {
        self.channel = channel
        self.budget = budget
        lastRequest = channel.eventLoop.now
        peer = channel.remoteAddress?.ipAddress.flatMap { IPAddress($0) }
        charge()
    }

    /// Closes the connection immediately. An orderly TLS shutdown would hold the descriptor until the client agrees.
    func drop() {
        release()
        if let tls = try? channel.pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self) {
            tls.close(promise: nil)
        } else {
            channel.close(promise: nil)
        }
    }

    /// Called when the client begins a TLS handshake. A connection on which nothing has arrived costs much less.
    func beginTLS() {
        isEncrypted = true
        ownBytes += Self.tlsBytes - Self.plainBytes
    }

    package func noteRequest(at time: NIODeadline) {
        lastRequest = time
        hasRequested = true
    }

    func checkTime(_ now: NIODeadline) {
        if let handshakeDeadline, now >= handshakeDeadline { return channel.close(promise: nil) }
        handler?.checkTime(now)
    }

    // MARK: Memory

    /// Releases the charged memory. A closed connection is charged nothing.
    func release() {
        isClosed = true
        charge()
    }

    private func charge() {
        // Encrypted responses wait in buffers that are up to twice as large as their content.
        let responseBytes = isEncrypted ? unsentBytes * 2 : unsentBytes
        let (bytes, step) = (ownBytes + requestBytes + responseBytes, MemoryBudget.step)
        let charged = isClosed ? 0 : (bytes + step - 1) / step * step
        guard charged != chargedBytes else { return }
        defer { chargedBytes = charged }
        budget.charge(charged - chargedBytes)
    }
}

/// A handler that enforces ``TimeLimit``s each time its connection is checked.
protocol TimedHandler: AnyObject {
    func checkTime(_ now: NIODeadline)
}
