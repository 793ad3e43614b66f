import CProcess
import CoreMetrics
import NIOCore
import NIOSSL

/// The connections of one event loop: never more than there are descriptors for.
///
/// Where there would be more, one gives way: of those that have not been answered anything yet the oldest, as long as they
/// are half or more, else the one that has been without an answer for the longest. Who opens connections without using
/// them takes half of them at most from those who do.
package final class ConnectionSet {
    private let limit: Int
    private let metrics: ServiceMetrics
    private var connections: [ObjectIdentifier: OpenConnection] = [:]
    /// The most there have been since there were none.
    private var peak = 0

    /// - Parameter limit: at least 1.
    package init(limit: Int, metrics: ServiceMetrics) {
        self.limit = limit
        self.metrics = metrics
    }

    package func add(_ connection: OpenConnection) {
        if connections.count >= limit { dropOne() }
        let id = ObjectIdentifier(connection)
        connections[id] = connection
        peak = max(peak, connections.count)
        metrics.connections.increment()
        connection.channel.closeFuture.assumeIsolated().whenComplete { _ in
            self.metrics.connections.decrement()
            self.connections[id] = nil
            if self.connections.isEmpty { self.returnMemory() }
        }
    }

    /// Looks through all of them, some 50 µs for 10,000, which is no more than a new connection costs anyway.
    private func dropOne() {
        let unused = connections.values.lazy.filter { !$0.hasRequested }.count
        let isOfUnused = unused * 2 >= limit
        let candidates = connections.lazy.filter { $0.value.hasRequested != isOfUnused }
        let idlest = candidates.min { $0.value.lastRequest < $1.value.lastRequest } ?? connections.first
        guard let idlest else { return }
        // Its own word for that comes only after this turn, in which more connections may be made.
        connections[idlest.key] = nil
        metrics.connectionsEvicted.increment()
        idlest.value.drop()
    }

    /// After a rush, what so many connections needed goes back to the system; in quiet times there is nothing to give.
    private func returnMemory() {
        if peak >= 256 { offer_return_memory() }
        peak = 0
    }
}
