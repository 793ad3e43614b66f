import OfferCore
package import OfferEligibility
package import OfferReports

/// Makes the report about the subscriptions of an app from the store. It reads each subscription once.
package struct SubscriptionReportReader: Sendable {
    package let app: AppScope
    package let question: SubscriptionQuestion
    /// The app's settings, which name the products that can be family-shared.
    package let settings: Catalogue.App

    /// The number of subscriptions read at a time. Meanwhile, SQLite cannot move its log.
    private static let pageSize: Int64 = 100

    package init(_ app: AppScope, _ question: SubscriptionQuestion, _ settings: Catalogue.App) {
        self.app = app
        self.question = question
        self.settings = settings
    }

    /// - Parameter progress: called with the number of subscriptions read so far, after each step.
    package func run(
        over store: any SubscriberStore, progress: @Sendable (Int) async -> Void = { _ in }
    ) async throws(StoreError) -> SubscriptionReport {
        var builder = SubscriptionReportBuilder(question)
        try await forEach(
            over: store, progress, { builder.add($0) },
            onPage: { numbers async throws(StoreError) in
                for record in try await store.retentionRecords(in: app, numbered: numbers) {
                    let subject = RetentionSubject(record, settings, until: question.asOf)
                    if let subject { builder.add(subject) }
                }
            })
        return builder.report()
    }

    /// Counts the events of the subscriptions by day, to compare them with Apple's report.
    package func eventDays(over store: any SubscriberStore) async throws(StoreError) -> SubscriptionEventDays {
        var days = SubscriptionEventDays(asOf: question.asOf)
        try await forEach(over: store, { _ in }) { days.add($0) }
        return days
    }

    private func forEach(
        over store: any SubscriberStore, _ progress: @Sendable (Int) async -> Void,
        _ body: (ReportedSubscription) -> Void,
        onPage: (ClosedRange<Int64>) async throws(StoreError) -> Void = { _ in }
    ) async throws(StoreError) {
        guard let numbers = try await store.subscriptionNumbers(in: app) else { return }
        for start in stride(from: numbers.lowerBound, through: numbers.upperBound, by: Int(Self.pageSize)) {
            guard !Task.isCancelled else { throw StoreError(.busy, "the report was cancelled") }
            let page = start...min(start + Self.pageSize - 1, numbers.upperBound)
            for facts in try await store.subscriptionFacts(in: app, numbered: page) {
                let history = SubscriptionHistory(of: SubscriberFacts(facts), of: settings, until: question.asOf)
                if let history { body(ReportedSubscription(history)) }
            }
            try await onPage(page)
            await progress(Int(page.upperBound - numbers.lowerBound + 1))
        }
    }
}

extension ReportedSubscription {
    init(_ history: SubscriptionHistory) {
        self.init(
            history.periods.map { period in
                var reported = Period(
                    start: period.start, end: period.end, accessEnd: period.accessEnd,
                    cause: EndCause(period.endedBecause))
                reported.product = period.productID.text.description
                reported.storefront = period.storefront ?? ""
                reported.plan = period.billingPlan?.rawValue ?? ""
                reported.price = PriceKind(period.kind)
                reported.isRenewal = period.isRenewal
                reported.hasFailed = period.hasFailed
                reported.recoveredAt = period.recoveredAt
                reported.isOver = period.isOver
                return reported
            })
        isKnownFromStart = history.isKnownFromStart
        awaitsConsent = history.awaitsConsent
        paidDays = history.paidFor.components.seconds / 86_400
    }
}

extension PriceKind {
    fileprivate init(_ kind: Subscription.PeriodKind) {
        switch kind {
        case .regular: self = .standard
        case .trial: self = .trial
        case .introductory: self = .introductory
        case .promotional, .offerCode, .winBack, .retention, .otherOffer: self = .offer
        }
    }
}
