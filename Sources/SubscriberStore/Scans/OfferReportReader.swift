import OfferCore
package import OfferEligibility
package import OfferReports

/// Makes the report of an offer from the store. It reads only the customers who were exposed to the offer.
package struct OfferReportReader: Sendable {
    package let offer: ReportedOffer
    package let question: ReportQuestion
    /// The app's settings, which say whose purchases count.
    package let settings: Catalogue.App

    /// The number of exposures read at a time. Meanwhile, SQLite cannot move its log.
    private static let pageSize = 50

    package init(_ offer: ReportedOffer, _ question: ReportQuestion, _ settings: Catalogue.App) {
        self.offer = offer
        self.question = question
        self.settings = settings
    }

    /// - Parameter progress: called with the number of customers read so far, after each step.
    package func run(
        over store: any SubscriberStore, progress: @Sendable (Int) async -> Void = { _ in }
    ) async throws(StoreError) -> OfferReport {
        var builder = OfferReportBuilder(question)
        var (place, count): (ExposurePlace?, Int) = (.start, 0)
        while let start = place {
            guard !Task.isCancelled else { throw StoreError(.busy, "the report was cancelled") }
            let page = try await store.exposures(
                to: offer, withTracked: !question.tracked.isEmpty, after: start, limit: Self.pageSize)
            for record in page.records { builder.add(ExposedCustomer(record, offer, settings, until: question.asOf)) }
            count += page.records.count
            await progress(count)
            place = page.next
        }
        return builder.report()
    }
}
