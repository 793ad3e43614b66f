import CProcess
import NIOCore
import OfferTelemetry

/// The connections of one event loop, limited so that file descriptors never run out.
///
/// At the limit, each new connection evicts an existing one. If at least half of the slots hold connections that have
/// made no request, one of those is closed; otherwise, a connection in use is closed. Lower authentication levels go
/// first, then connections without pending requests, then the connection that has gone longest without a request.
/// Unused connections can therefore occupy at most half of the slots.
package final class ConnectionSet {
    private let limit: Int
    private let batch: ResponseBatch
    private let budget: MemoryBudget
    private let metrics: ConnectionMetrics
    private var connections: [ObjectIdentifier: OpenConnection] = [:]
    /// The largest number of connections since the set was last empty.
    private var peak = 0
    /// The number of connections closed to free memory since memory was last returned to the system.
    private var relieved = 0
    private var sweep: RepeatedTask?

    /// - Parameters:
    ///   - limit: the maximum number of connections, at least 1.
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

    /// Closes one connection. Searching 10,000 connections takes about 50 µs, which is no more than accepting a
    /// connection costs.
    private func evictOne() {
        let unused = connections.values.lazy.filter { !$0.hasRequested }.count
        let evictsUnused = unused * 2 >= limit
        let candidates = connections.lazy.filter { $0.value.hasRequested != evictsUnused }
        let idlest = candidates.min { $0.value.evictionRank < $1.value.evictionRank } ?? connections.first
        guard let idlest else { return }
        // Remove it now. Its close future completes only after this turn of the loop, and more connections may arrive
        // before then.
        connections[idlest.key] = nil
        metrics.evicted.increment()
        idlest.value.drop()
    }

    /// Closes connections until the budget has room again: first those of strangers, then those of users, but never
    /// those of callers.
    /// - Parameter now: the current time.
    func relieve(_ now: NIODeadline) {
        guard budget.isTight else { return }
        let candidates = connections.values.filter { $0.standing.level < .caller }
            .map { (rank: $0.reliefRank(now), connection: $0) }
        for (_, connection) in candidates.sorted(by: { $0.rank < $1.rank }) {
            guard budget.isTight else { return }
            connections[ObjectIdentifier(connection)] = nil
            metrics.relieved.increment()
            relieved += 1
            connection.drop()
        }
    }

    /// Returns memory to the system after every 256 connections that were closed to free it. This takes some
    /// milliseconds.
    private func returnMemory() {
        guard relieved >= Self.manyConnections else { return }
        relieved = 0
        offer_return_memory()
    }

    private static let manyConnections = 256

    /// Starts a repeated task that checks the time limits of all connections on the event loop. A timer per connection
    /// would have to be reset on every request.
    private func startSweep(on loop: any EventLoop) {
        let ours = NIOLoopBound(self, eventLoop: loop)
        sweep = loop.scheduleRepeatedTask(initialDelay: TimeLimit.checkInterval, delay: TimeLimit.checkInterval) { _ in
            let now = loop.now
            for connection in ours.value.connections.values { connection.checkTime(now) }
            ours.value.relieve(now)
            ours.value.returnMemory()
            ours.value.batch.checkTime(now)
        }
    }

    /// Stops the sweep. After a burst of connections, also returns their memory to the system.
    private func rest() {
        sweep?.cancel()
        sweep = nil
        if peak >= Self.manyConnections { offer_return_memory() }
        peak = 0
    }
}

extension OpenConnection {
    /// The order of eviction. The connection with the lowest rank is evicted first.
    fileprivate var evictionRank: (UInt8, Int, NIODeadline) {
        (standing.level.rawValue, requestBytes > 0 ? 1 : 0, lastRequest)
    }

    /// Returns the order of closing when memory is short. The connection with the lowest rank is closed first.
    ///
    /// Within a level, large connections go first. The others differ too little for their size to matter. New ones
    /// outlast old ones, because their clients may be about to authenticate.
    fileprivate func reliefRank(_ now: NIODeadline) -> (UInt8, Int, Int, NIODeadline) {
        let isNew = now - lastRequest < .seconds(1)
        return (standing.level.rawValue, -(chargedBytes / Self.largeBytes), isNew ? 1 : 0, lastRequest)
    }

    /// The size in bytes from which a connection is large. A connection with TLS and a request of the usual size takes
    /// less.
    private static let largeBytes = 64 * 1024
}
