import NIOConcurrencyHelpers
import NIOCore
import Synchronization

/// The memory that requests and responses of all connections may take together.
///
/// Each connection charges the memory that it holds, in steps of ``step`` bytes, so most requests charge nothing. When
/// three quarters of the budget are used, the event loops close connections of strangers, then those of users, largest
/// first. When the whole budget is used, new requests are refused.
package final class MemoryBudget: Sendable {
    /// Connections charge multiples of this many bytes.
    package static let step = 4096

    /// The limit in bytes.
    package let limit: Int
    private let used = Atomic(0)
    private let loops = NIOLockedValueBox<[(loop: any EventLoop, relieve: @Sendable () -> Void)]>([])
    /// The number of event loops that have not yet completed the relief in progress.
    private let busyLoops = Atomic(0)
    /// The number of used bytes above which another relief is worth its cost. If the last relief did not free enough,
    /// there may be nothing left to close.
    private let nextRelief = Atomic(0)

    /// - Parameter limit: the limit in bytes.
    package init(limit: Int) {
        self.limit = limit
    }

    /// The number of bytes in use.
    package var usedBytes: Int { used.load(ordering: .relaxed) }

    /// True if connections have to be closed to make room.
    var isTight: Bool { usedBytes > threshold }

    private var threshold: Int { limit / 4 * 3 }

    /// True if new requests must be refused.
    var isExhausted: Bool { usedBytes > limit }

    /// - Parameter bytes: the number of bytes; negative to release them.
    func charge(_ bytes: Int) {
        let used = used.wrappingAdd(bytes, ordering: .relaxed).newValue
        if bytes > 0, used > threshold, used > nextRelief.load(ordering: .relaxed) { requestRelief() }
    }

    /// Adds a function that closes connections on an event loop. It is called on that loop.
    func addRelief(on loop: any EventLoop, _ relieve: @escaping @Sendable () -> Void) {
        loops.withLockedValue { $0.append((loop, relieve)) }
    }

    /// Makes all event loops close connections, because the loop that needs memory may not have any to close.
    private func requestRelief() {
        guard busyLoops.load(ordering: .relaxed) == 0 else { return }
        let all = loops.withLockedValue { $0 }
        guard busyLoops.compareExchange(expected: 0, desired: all.count, ordering: .relaxed).exchanged else { return }
        for (loop, relieve) in all {
            loop.execute {
                relieve()
                self.endRelief()
            }
        }
    }

    private func endRelief() {
        nextRelief.store(isTight ? usedBytes + limit / 64 : 0, ordering: .relaxed)
        busyLoops.wrappingSubtract(1, ordering: .relaxed)
    }
}
