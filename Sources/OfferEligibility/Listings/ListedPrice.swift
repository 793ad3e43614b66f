/// A price as customers see it in one territory.
package struct ListedPrice: Hashable, Sendable {
    /// The amount in decimal digits, such as `9.99`.
    package let amount: String
    /// The ISO 4217 code; nil if it is unknown.
    package let currency: String?
    /// The amount as a number, for comparison.
    package let value: Double

    /// - Parameter amount: digits with at most one point.
    /// - Returns: nil for any other amount.
    package init?(amount: String, currency: String?) {
        let parts = amount.split(separator: ".", omittingEmptySubsequences: false)
        let isDecimal =
            (1...2).contains(parts.count) && parts.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy(Self.isDigit) }
        guard isDecimal, amount.utf8.count <= 20, let value = Double(amount) else { return nil }
        self.amount = amount
        self.currency = currency
        self.value = value
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// Returns the price of each currency. It is absent if territories with the currency have different prices, except that
    /// the United States decide on the US dollar.
    /// - Parameter prices: the prices by territory.
    static func byCurrency(_ prices: [String: ListedPrice]) -> [String: ListedPrice] {
        let groups = Dictionary(grouping: prices.values.filter { $0.currency != nil }) { $0.currency ?? "" }
        var byCurrency = groups.compactMapValues { prices in
            prices.allSatisfy { $0.value == prices[0].value } ? prices[0] : nil
        }
        if let price = prices["USA"], price.currency == "USD" { byCurrency["USD"] = price }
        return byCurrency
    }

    /// The amount with its currency, such as `9.99 USD`.
    package var text: String { currency.map { "\(amount) \($0)" } ?? amount }
}

/// A length of time as App Store Connect names it.
package enum ListedDuration: String, CaseIterable, Hashable, Sendable {
    case threeDays = "THREE_DAYS"
    case oneWeek = "ONE_WEEK"
    case twoWeeks = "TWO_WEEKS"
    case oneMonth = "ONE_MONTH"
    case twoMonths = "TWO_MONTHS"
    case threeMonths = "THREE_MONTHS"
    case sixMonths = "SIX_MONTHS"
    case oneYear = "ONE_YEAR"

    /// The length as an ISO 8601 period, as in signed transactions.
    package var iso8601: String {
        switch self {
        case .threeDays: "P3D"
        case .oneWeek: "P1W"
        case .twoWeeks: "P2W"
        case .oneMonth: "P1M"
        case .twoMonths: "P2M"
        case .threeMonths: "P3M"
        case .sixMonths: "P6M"
        case .oneYear: "P1Y"
        }
    }

    /// The length in words, such as `3 months`.
    package var words: String {
        switch self {
        case .threeDays: "3 days"
        case .oneWeek: "week"
        case .twoWeeks: "2 weeks"
        case .oneMonth: "month"
        case .twoMonths: "2 months"
        case .threeMonths: "3 months"
        case .sixMonths: "6 months"
        case .oneYear: "year"
        }
    }

    /// The number of months, or of days if the length is not a number of months.
    private var months: Int? {
        switch self {
        case .threeDays, .oneWeek, .twoWeeks: nil
        case .oneMonth: 1
        case .twoMonths: 2
        case .threeMonths: 3
        case .sixMonths: 6
        case .oneYear: 12
        }
    }

    private var days: Int? {
        switch self {
        case .threeDays: 3
        case .oneWeek: 7
        case .twoWeeks: 14
        case .oneMonth, .twoMonths, .threeMonths, .sixMonths, .oneYear: nil
        }
    }

    /// Returns this length divided by another; nil for months and days, because months differ in length.
    func ratio(to other: ListedDuration) -> Double? {
        if let months, let others = other.months { return Double(months) / Double(others) }
        if let days, let others = other.days { return Double(days) / Double(others) }
        return nil
    }
}
