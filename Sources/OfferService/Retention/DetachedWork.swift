import OfferHTTP
import ServiceLifecycle

/// Work that can outlast its request, whose answer may be needed earlier. It ends before the service does.
package final class DetachedWork: Service {
    private let lane = AsyncLane()
    private let limit: LaneLimit

    /// - Parameter maximum: the maximum number of pieces of work under way.
    init(_ maximum: Int) {
        limit = LaneLimit(maximum)
    }

    /// Starts some work.
    /// - Returns: false if the work is not done, because too much is under way or the service is stopping.
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
