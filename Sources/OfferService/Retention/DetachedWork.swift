import OfferHTTP
import ServiceLifecycle

/// Work that may outlast its request, because the answer may be due earlier. It ends before the service stops.
package final class DetachedWork: Service {
    private let lane = AsyncLane()
    private let limit: LaneLimit

    /// - Parameter maximum: the maximum number of tasks that run at the same time.
    init(_ maximum: Int) {
        limit = LaneLimit(maximum)
    }

    /// Starts some work.
    /// - Returns: false if the work is not started, because too much is running or the service is stopping.
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
