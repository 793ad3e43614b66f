/// The lengths of time in a generated world. A fast clock is a short month: everything else shrinks with it.
package struct WorldClock: Sendable {
    /// How long a month lasts, in milliseconds.
    package let month: Int64

    package init(month: Int64 = 30 * 86_400_000) {
        self.month = month
    }

    package func days(_ count: Double) -> Int64 { Int64(Double(month) / 30 * count) }

    package func hours(_ count: Double) -> Int64 { days(count / 24) }

    /// The length of a product's period.
    func period(of productID: String) -> Int64 { productID.hasSuffix("weekly") ? days(7) : month }
}
