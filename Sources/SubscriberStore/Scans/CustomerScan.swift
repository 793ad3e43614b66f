import NIOConcurrencyHelpers
import OfferCore
import OfferEligibility

/// A pass over all stored customers of some apps. Several tasks each read a page, work on it, and read the next one.
struct CustomerScan: Sendable {
    /// A range of subscription numbers.
    struct Page: Sendable {
        /// The place of the page among all pages.
        let place: Int
        let app: AppScope
        let numbers: ClosedRange<Int64>
    }

    let apps: [AppScope]
    /// The number of pages that are processed at the same time.
    let workers: Int
    /// The number of subscriptions of a page.
    let pageSize: Int64

    /// - Parameters:
    ///   - isCancelled: called before each page. If it returns true, the pass ends early.
    ///   - progress: called with the completed share of subscriptions, from 0 to 1.
    ///   - part: the result of a task before its first page.
    ///   - add: adds the customers of a page to the result of a task.
    /// - Returns: the result of each task.
    func run<Part: Sendable>(
        over store: any SubscriberStore, isCancelled: @escaping @Sendable () -> Bool = { false },
        progress: @escaping @Sendable (Double) -> Void = { _ in }, startingWith part: Part,
        _ add: @escaping @Sendable (inout Part, Page, [NumberedCustomer]) async throws(StoreError) -> Void
    ) async throws(StoreError) -> [Part] {
        let pages = try await pages(of: store)
        let total = Double(max(1, pages.count))
        return try await each(of: pages, isCancelled: isCancelled, startingWith: part) {
            (part, page, left) async throws(StoreError) in
            try await add(&part, page, store.customers(in: page.app, numbered: page.numbers))
            progress(1 - Double(left) / total)
        }
    }

    /// Lets several tasks each take an item, work on it, and take the next one.
    /// - Parameter add: gets the number of items that are left, too.
    /// - Returns: the result of each task.
    func each<Item: Sendable, Part: Sendable>(
        of items: [Item], isCancelled: @escaping @Sendable () -> Bool = { false }, startingWith part: Part,
        _ add: @escaping @Sendable (inout Part, Item, _ left: Int) async throws(StoreError) -> Void
    ) async throws(StoreError) -> [Part] {
        let queue = NIOLockedValueBox(items[...])
        return try await withTaskGroup(of: Result<Part, StoreError>.self) { group in
            for _ in 0..<max(1, workers) {
                group.addTask {
                    await Result { () async throws(StoreError) in
                        var part = part
                        while !isCancelled(),
                            let (item, left) = queue.withLockedValue({ items in
                                items.popFirst().map { ($0, items.count) }
                            })
                        {
                            try await add(&part, item, left)
                        }
                        return part
                    }
                }
            }
            var parts: [Part] = []
            var fault: StoreError?
            for await result in group {
                switch result {
                case .success(let part): parts.append(part)
                case .failure(let error): fault = error
                }
            }
            return fault.map { .failure($0) } ?? Result<[Part], StoreError>.success(parts)
        }.get()
    }

    private func pages(of store: any SubscriberStore) async throws(StoreError) -> [Page] {
        var pages: [Page] = []
        for app in apps {
            guard let numbers = try await store.subscriptionNumbers(in: app) else { continue }
            for start in stride(from: numbers.lowerBound, through: numbers.upperBound, by: Int(pageSize)) {
                let end = min(start + pageSize - 1, numbers.upperBound)
                pages.append(Page(place: pages.count, app: app, numbers: start...end))
            }
        }
        return pages
    }
}

extension Result where Failure == StoreError {
    fileprivate init(_ work: () async throws(StoreError) -> Success) async {
        do throws(StoreError) { self = .success(try await work()) } catch { self = .failure(error) }
    }
}
