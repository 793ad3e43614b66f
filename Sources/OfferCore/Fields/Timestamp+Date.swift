package import FoundationEssentials

extension Timestamp {
    /// The time of `date`, rounded down to the millisecond.
    package init(_ date: Date) {
        self.init(milliseconds: Int64((date.timeIntervalSince1970 * 1000).rounded(.down)))
    }

    package var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1000) }
}
