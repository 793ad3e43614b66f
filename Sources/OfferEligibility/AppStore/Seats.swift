import OfferCore

/// A number of seats or items with the same price. Apple calls it `MultiSeatPriceTier`.
package struct PriceTier: Hashable, Sendable {
    /// The price of one seat in thousandths of a currency unit.
    package let price: Int64?
    package let quantity: Int64?

    package init(price: Int64?, quantity: Int64?) {
        self.price = price
        self.quantity = quantity
    }
}

/// The seats of a transaction. Apple calls it `multiSeatInfo`.
package struct Seats: Hashable, Sendable {
    /// The tiers, sorted by price and quantity, because Apple guarantees no order.
    package let priceTiers: [PriceTier]
    package let invitationManagement: InvitationManagement?
    /// The refunded seats. The access ends only when every transaction of the period is revoked.
    package let revokedQuantity: Int64?

    package init(
        priceTiers: [PriceTier] = [], invitationManagement: InvitationManagement? = nil, revokedQuantity: Int64? = nil
    ) {
        self.priceTiers = priceTiers.sorted
        self.invitationManagement = invitationManagement
        self.revokedQuantity = revokedQuantity
    }
}

extension [PriceTier] {
    /// The tiers by price and quantity.
    package var sorted: [PriceTier] {
        sorted { one, other in
            (one.price ?? .min, one.quantity ?? .min) < (other.price ?? .min, other.quantity ?? .min)
        }
    }
}

/// The side that invites the members of a group.
package struct InvitationManagement: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let apple = Self(rawValue: "APPLE")
    /// The developer. The members get no transactions.
    package static let developer = Self(rawValue: "DEVELOPER")
}

/// The reason why a period has several transactions. Each of them has it, the first included.
package struct AdditionalTransactionReason: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let seatAddition = Self(rawValue: "SEAT_ADDITION")
}
