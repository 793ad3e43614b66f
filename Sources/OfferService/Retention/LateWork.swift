import OfferHTTP
import ServiceLifecycle

/// Work that can outlast the request it is done for: its answer may have been needed before. It ends before the service does.
package final class LateWork: Service {
    private let lane = AsyncLane()
    private let limit: LaneLimit

    /// - Parameter maximum: how much may be under way.
    init(_ maximum: Int) {
        limit = LaneLimit(maximum)
    }

    /// Starts some work.
    /// - Returns: false if it is not done, because too much is under way or the service stops.
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
