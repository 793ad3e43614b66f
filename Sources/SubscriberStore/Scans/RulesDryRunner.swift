import NIOConcurrencyHelpers
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
        var pages: [Page] = []
        for app in apps {
            guard let numbers = try await store.subscriptionNumbers(in: app) else { continue }
            for start in stride(from: numbers.lowerBound, through: numbers.upperBound, by: Int(pageSize)) {
                pages.append(Page(app: app, numbers: start...min(start + pageSize - 1, numbers.upperBound)))
            }
        }
        let queue = NIOLockedValueBox(pages[...])
        let total = Double(max(1, pages.count))
        return try await withTaskGroup(of: Result<RulesDryRun, StoreError>.self) { group in
            for _ in 0..<max(1, workers) {
                group.addTask {
                    await Result { () async throws(StoreError) in
                        var dryRun = RulesDryRun(inForce: inForce, new: new, sampleSize: sampleSize)
                        while !isCancelled(),
                            let (page, left) = queue.withLockedValue({ pages in
                                pages.popFirst().map { ($0, pages.count) }
                            })
                        {
                            for customer in try await store.customers(in: page.app, numbered: page.numbers) {
                                dryRun.add(customer, at: at)
                            }
                            progress(1 - Double(left) / total)
                        }
                        return dryRun
                    }
                }
            }
            var whole = RulesDryRun(inForce: inForce, new: new, sampleSize: sampleSize)
            var fault: StoreError?
            for await part in group {
                switch part {
                case .success(let dryRun): whole.merge(dryRun)
                case .failure(let error): fault = error
                }
            }
            return fault.map { .failure($0) } ?? Result<RulesDryRun, StoreError>.success(whole)
        }.get()
    }

    private struct Page {
        let app: AppScope
        let numbers: ClosedRange<Int64>
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

extension Result where Failure == StoreError {
    fileprivate init(_ work: () async throws(StoreError) -> Success) async {
        do throws(StoreError) { self = .success(try await work()) } catch { self = .failure(error) }
    }
}
