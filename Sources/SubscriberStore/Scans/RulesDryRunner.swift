package import OfferCore
package import OfferEligibility

/// A runner that evaluates rules for all stored customers in parallel.
package struct RulesDryRunner: Sendable {
    package let inForce: Catalogue
    package let new: Catalogue
    package let at: Timestamp
    package let sampleSize: Int
    /// The number of pages of customers processed at the same time.
    package let workers: Int

    /// The number of subscriptions read at a time.
    package let pageSize: Int64

    package init(
        inForce: Catalogue, new: Catalogue, at: Timestamp, sampleSize: Int, workers: Int, pageSize: Int64 = 1000
    ) {
        self.inForce = inForce
        self.new = new
        self.at = at
        self.sampleSize = sampleSize
        self.workers = workers
        self.pageSize = pageSize
    }

    /// - Parameters:
    ///   - isCancelled: called before each page. If it returns true, the run ends, and its result is of no use. To cancel
    ///     the task instead would look like a failure of the store.
    ///   - progress: called with the completed share of subscriptions, from 0 to 1.
    package func run(
        over store: any SubscriberStore, isCancelled: @escaping @Sendable () -> Bool = { false },
        progress: @escaping @Sendable (Double) -> Void
    ) async throws(StoreError) -> RulesDryRun {
        let empty = RulesDryRun(inForce: inForce, new: new, sampleSize: sampleSize)
        let scan = CustomerScan(apps: apps, workers: workers, pageSize: pageSize)
        let parts = try await scan.run(
            over: store, isCancelled: isCancelled, progress: progress, startingWith: empty
        ) { dryRun, _, customers in
            for customer in customers { dryRun.add(customer, at: at) }
        }
        return parts.reduce(into: empty) { $0.merge($1) }
    }

    /// The apps of either configuration, in each of their environments.
    private var apps: [AppScope] {
        let ids = Set(inForce.apps.keys).union(new.apps.keys)
        return ids.sorted { $0.text.description < $1.text.description }.flatMap { id in
            let environments = (new.apps[id] ?? inForce.apps[id])?.environments ?? []
            return environments.sorted { $0.rawValue < $1.rawValue }.map { AppScope(bundleID: id, environment: $0) }
        }
    }
}
