import NIOConcurrencyHelpers
import OfferConfiguration
import OfferCore
import OfferEligibility
import SubscriberStore

/// The lease of a piece of background work, so that only one process does it at a time. If that process ends, another
/// one takes over within seconds.
final class WorkLease: Sendable {
    private let work: SharedWork
    private let store: CurrentStore
    /// The time until which this process certainly holds the lease.
    private let end = NIOLockedValueBox<ContinuousClock.Instant?>(nil)

    private static let duration = Duration.seconds(4)
    private static let renewal = Duration.seconds(1)

    init(_ work: SharedWork, in store: CurrentStore) {
        self.work = work
        self.store = store
    }

    /// Runs `body` if this process holds the lease, and renews the lease meanwhile. If the lease is lost, `body` is
    /// cancelled.
    func perform(_ body: @escaping @Sendable () async -> Void) async {
        guard await isOurs() else { return }
        await withTaskGroup(of: Void.self) { group in
            group.addTask(operation: body)
            group.addTask { await self.keep() }
            await group.next()
            group.cancelAll()
        }
    }

    /// Releases the lease immediately, so that another process can take over when this one ends.
    func release() async {
        guard end.withLockedValue({ $0.take() }) != nil else { return }
        try? await store.release(work)
    }

    /// Renews the lease until it is lost or the task is cancelled.
    private func keep() async {
        while (try? await Task.sleep(for: Self.renewal)) != nil, await isOurs() {}
    }

    /// Returns true if this process holds the lease for the next few seconds.
    func isOurs() async -> Bool {
        let now = ContinuousClock.now
        let known = end.withLockedValue { $0 }
        if let known, known - now > Self.duration - Self.renewal { return true }
        let claimed = try? await store.claim(work, for: Self.duration)
        // If the database does not answer, the last known lease stays valid until it ends.
        guard let claimed else { return known.map { $0 > .now } ?? false }
        // Measured from before the query, so it never outlives the row.
        end.withLockedValue { $0 = claimed ? now + Self.duration : nil }
        return claimed
    }
}

/// The leases of one kind of work, one for each app.
final class WorkLeases: Sendable {
    private let work: @Sendable (AppScope) -> SharedWork
    private let store: CurrentStore
    private let leases = NIOLockedValueBox<[AppScope: WorkLease]>([:])

    init(_ work: @escaping @Sendable (AppScope) -> SharedWork, in store: CurrentStore) {
        self.work = work
        self.store = store
    }

    func of(_ app: AppScope) -> WorkLease {
        leases.withLockedValue { leases in
            if let lease = leases[app] { return lease }
            let lease = WorkLease(work(app), in: store)
            leases[app] = lease
            return lease
        }
    }

    func release() async {
        for lease in leases.withLockedValue({ $0 }).values { await lease.release() }
    }
}
