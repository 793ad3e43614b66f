package import OfferCore

/// One thing that a rule requires of a customer.
package enum CustomerTest: Hashable, Sendable {
    case everSubscribed(Bool)
    case usedIntroductoryOffer(Bool)
    case refunded(RefundTest)
    case refundPending(Bool)
    case redeemed(RedemptionTest)
    case winBackOffers(WinBackTest)
    /// One of these products.
    case owns(Set<ProductID>)
    case originalAppVersion(VersionRange)
    case originalPurchase(DateRange)
    case fact(TeamFactTest)
    case date(DateRange)
    case share(ShareTest)
    case environment(Set<AppStoreEnvironment>)
}

package struct RefundTest: Hashable, Sendable {
    /// True if there must be such a refund, false if there must be none.
    package let expected: Bool
    /// Only refunds that are at most this old; nil for all.
    package let within: Duration?
    /// Only refunds for these reasons; nil for all.
    package let reasons: Set<Refund.Reason>?

    package init(expected: Bool = true, within: Duration? = nil, reasons: Set<Refund.Reason>? = nil) {
        self.expected = expected
        self.within = within
        self.reasons = reasons
    }
}

package struct RedemptionTest: Hashable, Sendable {
    /// Of promotional offers; nil for all.
    package let offers: Set<String>?
    /// Only redemptions that are at most this old; nil for all.
    package let within: Duration?
    package let count: Bounds<Int>

    package init(offers: Set<String>? = nil, within: Duration? = nil, count: Bounds<Int> = Bounds(atLeast: 1)) {
        self.offers = offers
        self.within = within
        self.count = count
    }
}

package enum WinBackTest: Hashable, Sendable {
    case none
    case any
    case offers(Set<String>)
}

/// Versions of the app from `from`, and before `before`. Each is a list of numbers with dots.
package struct VersionRange: Hashable, Sendable {
    package let from: AppVersion?
    package let before: AppVersion?

    package init(from: AppVersion? = nil, before: AppVersion? = nil) {
        self.from = from
        self.before = before
    }

    package func contains(_ version: AppVersion) -> Bool {
        from.map { version >= $0 } ?? true && before.map { version < $0 } ?? true
    }
}

/// Times from `from`, and before `until`.
package struct DateRange: Hashable, Sendable {
    package let from: Timestamp?
    package let until: Timestamp?

    package init(from: Timestamp? = nil, until: Timestamp? = nil) {
        self.from = from
        self.until = until
    }

    package func contains(_ time: Timestamp) -> Bool {
        from.map { time >= $0 } ?? true && until.map { time < $0 } ?? true
    }

    package var isEmpty: Bool {
        guard let from, let until else { return false }
        return from >= until
    }
}

/// A deterministic sample of customers. Those outside are held out for comparison.
package struct ShareTest: Hashable, Sendable {
    /// From 0 to 1.
    package let share: Double
    /// The name of the sample. Another name makes another sample.
    package let name: String

    package init(share: Double, name: String) {
        self.share = share
        self.name = name
    }
}
