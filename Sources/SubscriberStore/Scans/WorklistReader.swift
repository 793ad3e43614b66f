package import OfferCore
package import OfferEligibility

/// A reader of the customers on a ``Worklist``. It decides about the stored data, without the App Store.
package struct WorklistReader: Sendable {
    package let list: Worklist
    package let app: AppScope
    package let configured: Catalogue.App
    package let at: Timestamp
    /// If set, only customers who became eligible for the offer at this time or later, as their reviews found.
    package let since: Timestamp?

    package init(
        _ list: Worklist, since: Timestamp? = nil, of app: AppScope, _ configured: Catalogue.App, at: Timestamp
    ) {
        self.list = list
        self.since = since
        self.app = app
        self.configured = configured
        self.at = at
    }

    /// A part of a list.
    package struct Page: Sendable {
        package let customers: [WorklistCustomer]
        /// The number of the subscription with which the next page begins; nil if this is the last page.
        package let next: Int64?
    }

    /// The number of subscriptions that ``page(from:limit:in:)`` reads at a time, so that no change waits for long.
    private static let step: Int64 = 100

    /// Reads a part of the list. It ends after a number of subscriptions or some seconds, even if it names no customer. A
    /// customer who is erased meanwhile is not in it.
    /// - Parameters:
    ///   - start: the number of the subscription with which the part begins; nil for the first part.
    ///   - end: the number of the subscription with which the next part begins; nil for the rest of the list.
    ///   - limit: the number of customers after which the part ends. It may have some more.
    ///   - maximumSteps: the number of steps after which the part ends, of a hundred subscriptions each.
    ///   - maximumTime: the time after which the part ends, so that a busy service answers with a short part and not with
    ///     none.
    ///   - progress: called after each step, before the part is checked for customers who were erased.
    package func page(
        from start: Int64?, before end: Int64? = nil, limit: Int, maximumSteps: Int = 20,
        maximumTime: Duration = .seconds(5), in store: any SubscriberStore,
        progress: @Sendable () async -> Void = {}
    ) async throws(StoreError) -> Page {
        guard let numbers = try await store.subscriptionNumbers(in: app) else { return Page(customers: [], next: nil) }
        let first = max(numbers.lowerBound, start ?? numbers.lowerBound)
        var number = first
        let lastNumber = min(numbers.upperBound, end.map { $0 - 1 } ?? numbers.upperBound)
        var members: [Member] = []
        let deadline = ContinuousClock.now + maximumTime
        for step in 0..<maximumSteps {
            guard number <= lastNumber else { break }
            guard members.count < limit, step == 0 || ContinuousClock.now < deadline, !Task.isCancelled else { break }
            let last = min(number + Self.step - 1, lastNumber)
            members += try await self.members(
                of: store.customers(in: app, numbered: number...last), number...last, in: store)
            number = last + 1
            await progress()
        }
        return Page(
            customers: try await known(members, first...max(first, number - 1), in: store).map(\.customer),
            next: number <= lastNumber ? number : nil)
    }

    /// Reads the whole list. A customer who is erased meanwhile is not in it.
    /// - Parameters:
    ///   - workers: the number of pages that are read at the same time.
    ///   - isCancelled: called before each page. If it returns true, the list ends early.
    ///   - progress: called with the completed share of subscriptions, from 0 to 1.
    package func all(
        in store: any SubscriberStore, workers: Int, pageSize: Int64 = 1000,
        isCancelled: @escaping @Sendable () -> Bool = { false }, progress: @escaping @Sendable (Double) -> Void
    ) async throws(StoreError) -> [WorklistCustomer] {
        typealias Found = (page: CustomerScan.Page, members: [Member])
        let scan = CustomerScan(apps: [app], workers: workers, pageSize: pageSize)
        let parts = try await scan.run(
            over: store, isCancelled: isCancelled, progress: progress, startingWith: [Found]()
        ) { (found, page, customers) async throws(StoreError) in
            let members = try await members(of: customers, page.numbers, in: store)
            if !members.isEmpty { found.append((page, members)) }
        }
        // The check follows the last page, so it also finds customers who were erased during the scan.
        let known = try await scan.each(of: Array(parts.joined()), isCancelled: isCancelled, startingWith: [Found]()) {
            (known, found, _) async throws(StoreError) in
            known.append((found.page, try await self.known(found.members, found.page.numbers, in: store)))
        }
        return known.joined().sorted { $0.page.place < $1.page.place }.flatMap { $0.members.map(\.customer) }
    }

    private struct Member: Sendable {
        /// The customer's first subscription.
        let first: TransactionID
        let customer: WorklistCustomer

        var names: Set<CustomerIdentifier> {
            let names: [CustomerIdentifier?] = [
                .originalTransactionID(first), .originalTransactionID(customer.originalTransactionID),
                customer.appAccountToken.map { .appAccountToken($0) },
                customer.applicationUsername.map { .applicationUsername($0) },
                customer.appTransactionID.map { .appTransactionID($0) },
            ]
            return Set(names.compactMap(\.self))
        }
    }

    /// Returns the members all of whose names are still known.
    private func known(
        _ members: [Member], _ numbers: ClosedRange<Int64>, in store: any SubscriberStore
    ) async throws(StoreError) -> [Member] {
        guard !members.isEmpty else { return [] }
        let names = members.reduce(into: Set<CustomerIdentifier>()) { $0.formUnion($1.names) }
        let known = try await store.known(among: names, in: app, numbered: numbers)
        return members.filter { known.isSuperset(of: $0.names) }
    }

    /// Returns the members of the list, whom the limits of the offer do not refuse.
    private func members(
        of customers: [NumberedCustomer], _ numbers: ClosedRange<Int64>, in store: any SubscriberStore
    ) async throws(StoreError) -> [Member] {
        var recent: Set<TransactionID>?
        if let since, let offer = list.offer {
            let times = try await store.eligibleSince(offer.productID, offer.offerID, in: app, numbered: numbers)
            recent = Set(times.filter { $0.value >= since }.keys)
        }
        let candidates = customers.filter { recent?.contains($0.originalTransactionID) ?? true }
            .compactMap { numbered in
                list.candidate(numbered, in: configured, at: at).map { (numbered.originalTransactionID, $0) }
            }
        // To count all signatures of the offer for each customer would take long, so that is done once.
        var isTotalOpen = true
        if let offer = candidates.lazy.compactMap({ $1.offer }).first {
            isTotalOpen = try await !isRefused([request(offer, offer.limits, to: [])], in: store)[0]
        }
        let requests = candidates.compactMap { _, candidate in
            candidate.offer.map { offer in
                request(offer, isTotalOpen ? offer.limits.withoutTotal : offer.limits, to: candidate.holders)
            }
        }
        var refusals = try await isRefused(requests, in: store)[...]
        return candidates.compactMap { first, candidate in
            candidate.offer != nil && refusals.popFirst() == true
                ? nil : Member(first: first, customer: candidate.customer)
        }
    }

    /// - Parameter holders: the customer's identifiers; empty to check ``OfferLimits/total`` for a new customer.
    private func request(
        _ offer: OfferTerms, _ limits: OfferLimits, to holders: [CustomerIdentifier]
    ) -> LedgerRequest {
        LedgerRequest(
            app: app, holders: holders,
            offers: [
                LedgerRequest.Offer(
                    productID: offer.productID, offerID: offer.offerID, limits: limits, nonces: [], expiresAt: at,
                    grant: holders.isEmpty ? nil : offer.grant)
            ], reserving: .nothing, at: at)
    }

    private func isRefused(
        _ requests: [LedgerRequest], in store: any SubscriberStore
    ) async throws(StoreError) -> [Bool] {
        guard !requests.isEmpty else { return [] }
        return try await store.check(requests).map { results in
            if case .refused = results.first { true } else { false }
        }
    }
}
