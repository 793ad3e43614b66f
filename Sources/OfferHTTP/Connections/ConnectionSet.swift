import CProcess
import NIOCore
import OfferTelemetry

/// The connections of one event loop: never more than there are descriptors for.
///
/// When the limit is reached, one connection is closed for each new one. If at least half have not made a request yet, it is
/// the oldest of those; otherwise the one whose last request is longest ago. So unused connections can occupy at most half
/// of the slots.
package final class ConnectionSet {
    private let limit: Int
    private let batch: ResponseBatch
    private let metrics: ConnectionMetrics
    private var connections: [ObjectIdentifier: OpenConnection] = [:]
    /// The largest number of connections since there were none.
    private var peak = 0
    private var sweep: RepeatedTask?

    /// - Parameters:
    ///   - limit: at least 1.
    ///   - batch: the one that answers the requests of these connections.
    package init(limit: Int, batch: ResponseBatch, metrics: ConnectionMetrics) {
        self.limit = limit
        self.batch = batch
        self.metrics = metrics
    }

    package func add(_ connection: OpenConnection) {
        if connections.count >= limit { evictOne() }
        if sweep == nil { startSweep(on: connection.channel.eventLoop) }
        let id = ObjectIdentifier(connection)
        connections[id] = connection
        peak = max(peak, connections.count)
        metrics.open.increment()
        connection.channel.closeFuture.assumeIsolated().whenComplete { _ in
            self.metrics.open.decrement()
            self.connections[id] = nil
            if self.connections.isEmpty { self.rest() }
        }
    }

    /// Searches all of them, about 50 µs for 10,000, which is no more than a new connection costs anyway.
    private func evictOne() {
        let unused = connections.values.lazy.filter { !$0.hasRequested }.count
        let evictsUnused = unused * 2 >= limit
        let candidates = connections.lazy.filter { $0.value.hasRequested != evictsUnused }
        let idlest = candidates.min { $0.value.lastRequest < $1.value.lastRequest } ?? connections.first
        guard let idlest else { return }
        // Removed at once: its close future completes only after this turn, in which more connections may arrive.
        connections[idlest.key] = nil
        metrics.evicted.increment()
        idlest.value.drop()
    }

    /// Checks the time limits of all connections. One task per event loop: a timer for each connection would be renewed at
    /// every request.
    private func startSweep(on loop: any EventLoop) {
        let ours = NIOLoopBound(self, eventLoop: loop)
        sweep = loop.scheduleRepeatedTask(initialDelay: TimeLimit.checkInterval, delay: TimeLimit.checkInterval) { _ in
            let now = loop.now
            for connection in ours.value.connections.values { connection.checkTime(now) }
            ours.value.batch.checkTime(now)
        }
    }

    /// Stops the sweep, and after a rush returns the memory of so many connections to the system.
    private func rest() {
        sweep?.cancel()
        sweep = nil
        if peak >= 256 { offer_return_memory() }
        peak = 0
    }
}
