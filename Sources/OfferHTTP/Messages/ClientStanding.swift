import Synchronization

/// Whether the client of a connection has ever authenticated on it.
///
/// Under load, clients that have not are served last and lose their connections first.
package final class ClientStanding: Sendable {
    private let flag = Atomic(false)

    package init() {}

    package var isAuthenticated: Bool { flag.load(ordering: .relaxed) }

    /// Called when a request of the client has been admitted.
    package func noteAuthenticated() {
        // Every request calls this. Without the check, each would write to memory shared with other cores.
        if !isAuthenticated { flag.store(true, ordering: .relaxed) }
    }
}
