package import OfferCore
package import OfferEligibility
package import OfferReports

/// The reports that the store keeps, and the requests for new ones. All processes share them.
package protocol ReportStore: Sendable {
    /// Returns what is known about each report, without the results.
    func keptReports() async throws(StoreError) -> [KeptReport]

    /// Returns the result of a report; nil if there is none.
    func result(of subject: ReportSubject) async throws(StoreError) -> [UInt8]?

    /// Requests a report, unless a request for it is waiting. If there are ``KeptReport/maximumCount`` reports, the one
    /// that was made first makes room; of those about earlier times, an app has ``KeptReport/maximumEarlier``.
    /// - Returns: false if all of them are waiting.
    func requestReport(_ subject: ReportSubject, at now: Timestamp) async throws(StoreError) -> Bool

    /// Notes how many customers have been read for a requested report.
    func noteProgress(of subject: ReportSubject, customersRead: Int) async throws(StoreError)

    /// Answers the request for a report.
    /// - Parameter result: nil if the report failed. The store then keeps the earlier result.
    func settleReport(_ subject: ReportSubject, result: [UInt8]?, at now: Timestamp) async throws(StoreError)
}

/// The subject of a kept report.
package struct ReportSubject: Hashable, Sendable {
    package enum Topic: Hashable, Sendable {
        case offer(ReportedOffer, ReportCohorts)
        /// All subscriptions of the app, with months in a time zone.
        case subscriptions(AppScope, ReportZone)
    }

    package let topic: Topic
    /// The time up to which data counts; nil for the time at which the report is made.
    package let asOf: Timestamp?

    package init(_ topic: Topic, asOf: Timestamp? = nil) {
        self.topic = topic
        self.asOf = asOf
    }

    package init(_ offer: ReportedOffer, _ cohorts: ReportCohorts = ReportCohorts(), asOf: Timestamp? = nil) {
        self.init(.offer(offer, cohorts), asOf: asOf)
    }

    package var app: AppScope {
        switch topic {
        case .offer(let offer, _): offer.app
        case .subscriptions(let app, _): app
        }
    }
}

/// A report in the store, and the request for a new one.
package struct KeptReport: Hashable, Sendable {
    package let subject: ReportSubject
    /// The time of the request; nil if none is waiting.
    package let requestedAt: Timestamp?
    /// The number of customers or subscriptions read so far for the request.
    package let customersRead: Int
    /// The time at which the result was made; nil if there is none.
    package let madeAt: Timestamp?
    /// The time at which the last attempt failed; nil if it did not fail.
    package let failedAt: Timestamp?

    /// The number of reports that the store keeps.
    package static let maximumCount = 500
    /// The number of reports about earlier times that the store keeps for each app. Callers choose these times.
    package static let maximumEarlier = 20
    /// The maximum size of a result, in bytes.
    package static let maximumSize = 1 << 20
}
