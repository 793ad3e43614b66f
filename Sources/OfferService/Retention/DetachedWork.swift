import OfferHTTP
import ServiceLifecycle

/// Tasks that may outlast their requests, because the answers may be due earlier. They end before the service stops.
package final class DetachedWork: Service {
    private let lane = AsyncLane()
    private let limit: LaneLimit
    private let limitOfRecords: LaneLimit

    /// - Parameter maximum: the maximum number of tasks that run at the same time. As many more may write records.
    init(_ maximum: Int) {
        limit = LaneLimit(maximum)
        limitOfRecords = LaneLimit(maximum)
    }

    /// Starts a task.
    /// - Parameter isRecord: true for a record, which is written after the answer. Records take no place of other tasks.
    /// - Returns: false if the task is not started, because too many are running or the service is stopping.
    func start(isRecord: Bool = false, _ work: @escaping @Sendable () async -> Void) -> Bool {
        let limit = isRecord ? limitOfRecords : limit
        guard limit.enter() else { return false }
        let isAccepted = lane.run {
            await work()
            limit.leave()
        }
        if !isAccepted { limit.leave() }
        return isAccepted
    }

    package func run() async throws {
        await withDiscardingTaskGroup { group in
            group.addTask { [lane] in await lane.run() }
            try? await gracefulShutdown()
            lane.finish()
        }
    }
}
