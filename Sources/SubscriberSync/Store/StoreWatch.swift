package import Logging
import NIOPosix
import OfferConfiguration
package import OfferCore
package import OfferTelemetry
import ServiceLifecycle
import SubscriberStore

/// The background work for the store: opens it, notices when it works again, reads figures for metrics and health, and
/// deletes old payloads.
package struct StoreWatch: Service {
    private let current: CurrentStore
    private let now: @Sendable () -> Timestamp
    private let readiness: Readiness
    private let metrics: SyncMetrics
    private let log: Logger
    private let pruning: WorkLease

    /// The interval between readings of the figures, in rounds of one second.
    private static let roundsPerFigures = 5
    /// The interval between deletions of old payloads, in rounds of one second.
    private static let roundsPerPruning = 600
    /// The number of partitions of the payloads, if the database has partitions. Each covers at least a day.
    private static let partitions = 26
    /// The allowance for late pruning: a partition is started and dropped up to two prunings late.
    private static let delay = Duration.hours(1)
    /// The number of payloads deleted at a time: small, so that no notification waits long for a deletion.
    private static let payloadsPerStep = 50
    /// The number of requests with an `Idempotency-Key` forgotten at a time.
    private static let requestsPerStep = 500

    package init(
        _ current: CurrentStore, now: @escaping @Sendable () -> Timestamp, readiness: Readiness, metrics: SyncMetrics,
        log: Logger
    ) {
        self.metrics = metrics
        self.current = current
        self.now = now
        self.readiness = readiness
        self.log = log
        pruning = WorkLease(.pruning, in: current)
    }

    package func run() async throws {
        guard let settings = current.settings else {
            return try await gracefulShutdown()
        }
        await cancelWhenGracefulShutdown {
            var round = 0
            await Periodic.run(every: .seconds(1)) {
                await self.check(settings)
                if round % Self.roundsPerFigures == 0 { await readFigures() }
                if round % Self.roundsPerPruning == 0 { await pruning.perform { await prune(settings) } }
                round += 1
            }
        }
        await pruning.release()
        do { try current.store?.close() } catch {
            log.error("the database of subscribers was not closed properly", metadata: ["reason": "\(error.detail)"])
        }
    }

    private func check(_ settings: StoreSettings) async {
        if current.store == nil {
            await open(settings.location)
        } else if current.fault?.isLasting == false {
            try? await current.probe()
        }
        readiness.report(
            [current.fault?.diagnostic, current.unreadable?.diagnostic].compactMap(\.self), from: .store, to: log)
    }

    /// Opens the store on a thread that may block.
    private func open(_ location: StoreLocation) async {
        let result = try? await NIOThreadPool.singleton.runIfActive {
            Result { () throws(StoreError) in try location.open() }
        }
        switch result {
        case .success(let store)?:
            current.open(store)
            log.notice("database of subscribers open", metadata: ["database": "\(location)"])
        case .failure(let fault)?: current.note(fault)
        case nil: break
        }
    }

    private func readFigures() async {
        guard let intakes = try? await current.intakes() else { return }
        metrics.update(\.intakes, intakes)
    }

    private func prune(_ settings: StoreSettings) async {
        let time = now()
        let oldest = time - RememberedRetentionOffer.time
        try? await current.pruneRetentionOffers(before: oldest)
        try? await current.pruneSessions(before: time - .days(1))
        await repeatInSteps(of: Self.requestsPerStep) { limit in
            try await current.pruneIdempotentRequests(before: time - IdempotentRequest.time, limit: limit)
        }
        let age = Duration.days(settings.payloadDays)
        let span = max(.days(1), age / Self.partitions)
        let limit = time - age
        let isPartitioned = await prunePartitions(receivedBefore: limit, span: span, at: time)
        await prunePayloads(receivedBefore: isPartitioned ? limit - (span + Self.delay) : limit)
    }

    /// - Returns: false if the database has no partitions, or if that is unknown.
    private func prunePartitions(receivedBefore limit: Timestamp, span: Duration, at time: Timestamp) async -> Bool {
        do throws(StoreError) {
            let pruning = try await current.prunePartitions(receivedBefore: limit, span: span, at: time)
            guard let pruning else { return false }
            if pruning.dropped > 0 {
                log.info("old notifications deleted", metadata: ["partitions": "\(pruning.dropped)"])
            }
            if pruning.isPutOff {
                log.info("partitions of notifications are being read, so they will be changed later")
            }
            return true
        } catch {
            log.error("partitions of notifications cannot be changed", metadata: ["reason": "\(error.detail)"])
            return false
        }
    }

    private func prunePayloads(receivedBefore time: Timestamp) async {
        let total = await repeatInSteps(of: Self.payloadsPerStep) { limit in
            try await current.prunePayloads(receivedBefore: time, limit: limit)
        }
        if total > 0 { log.info("old notifications deleted", metadata: ["count": "\(total)"]) }
    }

    /// Calls a function that deletes a limited number of rows until none are left.
    /// - Returns: the number of rows deleted.
    @discardableResult
    private func repeatInSteps(of limit: Int, _ delete: (Int) async throws -> Int) async -> Int {
        var total = 0
        while !Task.isCancelled {
            let count = try? await delete(limit)
            total += count ?? 0
            guard count == limit else { break }
            // Let waiting notifications be stored in between.
            try? await Task.sleep(for: .milliseconds(20))
        }
        return total
    }
}
