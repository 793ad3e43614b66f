/// One transaction of a generated customer.
struct WorldTransaction: Hashable, Sendable {
    let id: String
    let productID: String
    let purchaseDate: Int64
    var expiresDate: Int64
    let isRenewal: Bool
    /// In thousandths of a currency unit.
    let price: Int64
    var offer: WorldOffer?
    var revocationDate: Int64?
    var isUpgraded = false
    let appAccountToken: String?
    /// Counts the changes of the customer: the history is in this order.
    var modification: Int
}

/// An offer as Apple numbers it.
struct WorldOffer: Hashable, Sendable {
    let type: Int
    let identifier: String?
    let discountType: String

    static let trial = WorldOffer(type: 1, identifier: nil, discountType: "FREE_TRIAL")
    static let promotional = WorldOffer(type: 2, identifier: "retention_50off_3m", discountType: "PAY_AS_YOU_GO")
    static let winBack = WorldOffer(type: 4, identifier: "winback_1m", discountType: "PAY_UP_FRONT")

    var members: [(String, String)] {
        [("offerType", "\(type)"), ("offerDiscountType", "\"\(discountType)\"")]
            + (identifier.map { [("offerIdentifier", "\"\($0)\"")] } ?? [])
    }
}
