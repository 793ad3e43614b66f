import OfferHTTP
import ServiceLifecycle

/// Tasks that may outlast their requests, because the answers may be due earlier. They end before the service stops.
package final class DetachedWork: Service {
    private let lane = AsyncLane()
    private let limit: LaneLimit

    /// - Parameter maximum: the maximum number of tasks that run at the same time.
    init(_ maximum: Int) {
        limit = LaneLimit(maximum)
    }

    /// Starts a task.
    /// - Returns: false if the task is not started, because too many are running or the service is stopping.
    func start(_ work: @escaping @Sendable () async -> Void) -> Bool {
        guard limit.enter() else { return false }
        let limit = limit
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
