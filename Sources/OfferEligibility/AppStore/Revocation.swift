package import OfferCore

/// A refund of a transaction, or the end of its Family Sharing.
package struct Revocation: Hashable, Sendable {
    package let date: Timestamp
    package var reason: RevocationReason?
    /// Absent from data signed before December 2025.
    package var type: RevocationType?
    /// The refunded share of the price, in thousandths of a percent. A full refund is 100,000.
    package var percentage: Int64?

    package init(
        date: Timestamp, reason: RevocationReason? = nil, type: RevocationType? = nil, percentage: Int64? = nil
    ) {
        self.date = date
        self.reason = reason
        self.type = type
        self.percentage = percentage
    }
}

package struct RevocationReason: OpenValue {
    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }

    package static let other = Self(rawValue: 0)
    /// An actual or perceived issue in the app.
    package static let appIssue = Self(rawValue: 1)
}

package struct RevocationType: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let fullRefund = Self(rawValue: "REFUND_FULL")
    package static let proratedRefund = Self(rawValue: "REFUND_PRORATED")
    package static let family = Self(rawValue: "FAMILY_REVOKE")
}
