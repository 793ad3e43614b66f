import CProcess
import NIOCore

/// The connections of one event loop: never more than there are descriptors for.
///
/// Where there would be more, the one that has been without an answered request for the longest gives way. Who holds
/// connections without using them loses them first, and a new customer gets in.
final class ConnectionSet {
    private let limit: Int
    private var connections: [ObjectIdentifier: OpenConnection] = [:]
    /// The most there have been since there were none.
    private var peak = 0

    /// - Parameter limit: at least 1.
    init(limit: Int) {
        self.limit = limit
    }

    func add(_ connection: OpenConnection) {
        if connections.count >= limit { dropIdlest() }
        let id = ObjectIdentifier(connection)
        connections[id] = connection
        peak = max(peak, connections.count)
        connection.channel.closeFuture.assumeIsolated().whenComplete { _ in
            self.connections[id] = nil
            if self.connections.isEmpty { self.returnMemory() }
        }
    }

    /// After a rush, what so many connections needed goes back to the system; in quiet times there is nothing to give.
    private func returnMemory() {
        if peak >= 256 { offer_return_memory() }
        peak = 0
    }

    /// Looks through all of them, some 50 µs for 10,000, which is no more than a new connection costs anyway.
    private func dropIdlest() {
        guard let idlest = connections.min(by: { $0.value.lastRequest < $1.value.lastRequest }) else { return }
        // Its own word for that comes only after this turn, in which more connections may be made.
        connections[idlest.key] = nil
        idlest.value.channel.close(promise: nil)
    }
}
