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
    var seats = 1
    /// The refunded seats. The others stay.
    var revokedSeats = 0
    /// Whether its period has several transactions because of added seats. The first one has it too when it is signed again.
    var hasSeatAddition = false
    /// Of a bill of a commitment.
    var commitment: WorldCommitment?
}

/// One bill of a commitment of twelve bills.
struct WorldCommitment: Hashable, Sendable {
    static let bills = 12

    /// From 1.
    let bill: Int
    /// When the last bill's period ends.
    let end: Int64

    var isLast: Bool { bill == Self.bills }

    var members: [(String, String)] {
        [
            ("billingPlanType", "\"MONTHLY\""),
            (
                "commitmentInfo",
                """
                {"billingPeriodNumber":\(bill),"totalBillingPeriods":\(Self.bills),"commitmentExpiresDate":\(end),\
                "commitmentPrice":119880}
                """
            ),
        ]
    }
}

/// The App Store of a country or region.
struct Storefront: Hashable, Sendable {
    let code: String
    let id: String
    let currency: String

    static let all = [
        Storefront(code: "USA", id: "143441", currency: "USD"), Storefront(code: "DEU", id: "143443", currency: "EUR"),
        Storefront(code: "JPN", id: "143462", currency: "JPY"),
    ]
}

/// An offer as Apple numbers it.
struct WorldOffer: Hashable, Sendable {
    let type: Int
    let identifier: String?
    let discountType: String

    static let trial = WorldOffer(type: 1, identifier: nil, discountType: "FREE_TRIAL")
    static let promotional = WorldOffer(type: 2, identifier: "retention_50off_3m", discountType: "PAY_AS_YOU_GO")
    /// An offer of a retention message of App Store Connect.
    static let retention = WorldOffer(type: 5, identifier: "stay_50off", discountType: "PAY_AS_YOU_GO")
    static let winBack = WorldOffer(type: 4, identifier: "winback_1m", discountType: "PAY_UP_FRONT")

    var members: [(String, String)] {
        [("offerType", "\(type)"), ("offerDiscountType", "\"\(discountType)\"")]
            + (identifier.map { [("offerIdentifier", "\"\($0)\"")] } ?? [])
    }
}
