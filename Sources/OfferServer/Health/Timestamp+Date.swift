package import FoundationEssentials
package import OfferCore

extension Timestamp {
    /// The millisecond that has begun.
    package init(_ date: Date) {
        self.init(milliseconds: Int64((date.timeIntervalSince1970 * 1000).rounded(.down)))
    }

    var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1000) }
}
