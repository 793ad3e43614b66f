import OfferCore

/// The state of a refund request, as notifications report it. The raw values are stored in databases.
package enum RefundRequest: Int64, CaseIterable, Hashable, Sendable {
    /// The App Store sent a `CONSUMPTION_REQUEST`.
    case open = 1
    /// A `REFUND` closed it.
    case granted = 2
    /// A `REFUND_DECLINED` closed it.
    case declined = 3

    /// The time for which a request stays open without an answer.
    static let lifetime = Duration.days(60)
}
