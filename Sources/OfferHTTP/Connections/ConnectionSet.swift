import CProcess
import NIOCore
import OfferTelemetry

/// The connections of one event loop, limited so that file descriptors never run out.
///
/// At the limit, each new connection evicts an existing one. If at least half of the slots hold connections that have made no
/// request, the oldest of those is closed. Otherwise, the connection that has gone longest without a request is closed. Unused
/// connections can therefore occupy at most half of the slots.
package final class ConnectionSet {
    private let limit: Int
    private let batch: ResponseBatch
    private let budget: MemoryBudget
    private let metrics: ConnectionMetrics
    private var connections: [ObjectIdentifier: OpenConnection] = [:]
    /// The largest number of connections since the set was last empty.
    private var peak = 0
    private var sweep: RepeatedTask?

    /// - Parameters:
    ///   - limit: at least 1.
    ///   - batch: the batch that answers the requests of these connections.
    ///   - budget: the budget that these connections are charged to.
    package init(limit: Int, batch: ResponseBatch, budget: MemoryBudget, metrics: ConnectionMetrics) {
        self.limit = limit
        self.batch = batch
        self.budget = budget
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
            connection.release()
            self.connections[id] = nil
            if self.connections.isEmpty { self.rest() }
        }
    }

    /// Closes one connection. Searching 10,000 connections takes about 50 µs, which is no more than accepting a connection
    /// costs.
    private func evictOne() {
        let unused = connections.values.lazy.filter { !$0.hasRequested }.count
        let evictsUnused = unused * 2 >= limit
        let candidates = connections.lazy.filter { $0.value.hasRequested != evictsUnused }
        let idlest = candidates.min { $0.value.lastRequest < $1.value.lastRequest } ?? connections.first
        guard let idlest else { return }
        // Remove it now. Its close future completes only after this turn of the loop, and more connections may arrive before
        // then.
        connections[idlest.key] = nil
        metrics.evicted.increment()
        idlest.value.drop()
    }

    /// Closes connections that never authenticated, those that take most memory first, until the budget has room again.
    func relieve() {
        guard budget.isTight else { return }
        let strangers = connections.values.filter { !$0.standing.isAuthenticated }
        for connection in strangers.sorted(by: { $0.chargedBytes > $1.chargedBytes }) {
            guard budget.isTight else { return }
            connections[ObjectIdentifier(connection)] = nil
            metrics.relieved.increment()
            connection.drop()
        }
    }

    /// Starts a repeated task that checks the time limits of all connections on the event loop. A timer per connection would
    /// have to be reset on every request.
    private func startSweep(on loop: any EventLoop) {
        let ours = NIOLoopBound(self, eventLoop: loop)
        sweep = loop.scheduleRepeatedTask(initialDelay: TimeLimit.checkInterval, delay: TimeLimit.checkInterval) { _ in
            let now = loop.now
            for connection in ours.value.connections.values { connection.checkTime(now) }
            ours.value.relieve()
            ours.value.batch.checkTime(now)
        }
    }

    /// Stops the sweep. After a burst of connections, also returns their memory to the system.
    private func rest() {
        sweep?.cancel()
        sweep = nil
        if peak >= 256 { offer_return_memory() }
        peak = 0
    }
}
