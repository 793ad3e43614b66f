import OfferCore
import OfferEligibility

extension Seats {
    private enum Member: Int, PayloadMember {
        case invitationManagement, priceTiers, revokedSeatQuantity
    }

    private static let index = MemberIndex<Member>()

    init(_ value: PayloadValue) throws(PayloadError) {
        let reader = try value.reader(Self.index)
        self.init(
            priceTiers: try reader[.priceTiers].map([PriceTier].init) ?? [],
            invitationManagement: try reader[.invitationManagement]?.open(),
            revokedQuantity: try reader[.revokedSeatQuantity]?.integer())
    }

    /// Reads the tiers of the renewal from a `multiSeatInfo`.
    static func renewalPriceTiers(_ value: PayloadValue) throws(PayloadError) -> [PriceTier] {
        let reader = try value.reader(renewalIndex)
        return try reader[.renewalPriceTiers].map([PriceTier].init)?.sorted ?? []
    }

    private enum RenewalMember: Int, PayloadMember {
        case renewalPriceTiers
    }

    private static let renewalIndex = MemberIndex<RenewalMember>()
}

extension [PriceTier] {
    fileprivate init(_ value: PayloadValue) throws(PayloadError) {
        self = try value.elements().map { element throws(PayloadError) in try PriceTier(element) }
    }
}

extension PriceTier {
    private enum Member: Int, PayloadMember {
        case price, quantity
    }

    private static let index = MemberIndex<Member>()

    fileprivate init(_ value: PayloadValue) throws(PayloadError) {
        let reader = try value.reader(Self.index)
        self.init(price: try reader[.price]?.integer(), quantity: try reader[.quantity]?.integer())
    }
}
