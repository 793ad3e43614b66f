/// One Apple Account whose every step a test chooses, and what the App Store says of it.
///
/// Each step returns the notification that the App Store would post, in compact form. Times are in milliseconds.
package struct PlayedCustomer {
    package let appTransactionID: String
    /// The account that the app sets on purchases from now on; nil for none.
    package var account: String?
    private let signer: WorldSigner
    private var subscription = WorldSubscription(group: "21012345", purchaseAt: 0)
    /// Apple's `inAppOwnershipType`.
    private var ownership = "PURCHASED"
    private var transactionCount = 0
    private var notificationCount: UInt64 = 0
    private let number: Int

    package static let month: Int64 = 30 * 86_400_000

    /// - Parameters:
    ///   - number: tells the customers of a test apart.
    ///   - folder: a chain that ``NotificationSigner/make(in:)`` has written.
    package init(
        _ number: Int, account: String?, bundleID: String = "com.example.app", appAppleID: Int64 = 1_234_567_890,
        environment: String = "Production", folder: String
    ) throws {
        self.init(
            number, account: account, bundleID: bundleID, appAppleID: appAppleID, environment: environment,
            chain: try NotificationSigner.chain(in: folder))
    }

    init(
        _ number: Int, account: String?, bundleID: String = "com.example.app", appAppleID: Int64 = 1_234_567_890,
        environment: String = "Production", chain: TestChain
    ) {
        self.number = number
        self.account = account
        appTransactionID = "\(704_900_000_000_000_000 + number)"
        signer = WorldSigner(chain: chain, bundleID: bundleID, appAppleID: appAppleID, environment: environment)
    }

    // MARK: What the customer does

    /// - Parameter trial: whether the month is a free trial.
    package mutating func subscribe(
        to product: String = "monthly", at time: Int64, trial: Bool = false, redeeming offerID: String? = nil
    ) throws -> String {
        let isFirst = subscription.transactions.isEmpty
        add(product, at: time, isRenewal: false, offer: trial ? .trial : offerID.map(Self.promotional))
        return try notify("SUBSCRIBED", isFirst ? "INITIAL_BUY" : "RESUBSCRIBE", at: time)
    }

    /// A family member's share of somebody else's subscription, which carries the purchaser's offer.
    package mutating func share(
        _ product: String = "monthly", at time: Int64, redeemedAs offerID: String? = nil
    ) throws -> String {
        ownership = "FAMILY_SHARED"
        return try subscribe(to: product, at: time, redeeming: offerID)
    }

    package mutating func renew(at time: Int64) throws -> String {
        add(
            subscription.nextProductID, at: time, isRenewal: true, offer: subscription.nextOffer,
            modification: subscription.transactions.count)
        return try notify("DID_RENEW", nil, at: time)
    }

    package mutating func setAutoRenew(_ isOn: Bool, at time: Int64) throws -> String {
        subscription.autoRenews = isOn
        return try notify(
            "DID_CHANGE_RENEWAL_STATUS", isOn ? "AUTO_RENEW_ENABLED" : "AUTO_RENEW_DISABLED", at: time)
    }

    /// Chooses the product of the next period.
    package mutating func choose(_ product: String, at time: Int64) throws -> String {
        let isReverted = product == subscription.last.productID
        subscription.nextProductID = product
        return try notify("DID_CHANGE_RENEWAL_PREF", isReverted ? nil : "DOWNGRADE", at: time)
    }

    package mutating func expire(at time: Int64) throws -> String {
        let isCancelled = !subscription.autoRenews
        subscription.expirationIntent = isCancelled ? 1 : 2
        subscription.isRetrying = false
        subscription.autoRenews = false
        return try notify("EXPIRED", isCancelled ? "VOLUNTARY" : "BILLING_RETRY", at: time)
    }

    package mutating func failToPay(at time: Int64) throws -> String {
        subscription.isRetrying = true
        return try notify("DID_FAIL_TO_RENEW", nil, at: time)
    }

    /// - Parameter place: of the transaction; the last one for nil.
    package mutating func refund(_ place: Int? = nil, at time: Int64) throws -> String {
        let place = place ?? subscription.transactions.count - 1
        subscription.transactions[place].revocationDate = time
        if place == subscription.transactions.count - 1 {
            subscription.autoRenews = false
            subscription.expirationIntent = 5
        }
        return try notify("REFUND", nil, at: time, about: place)
    }

    /// Uses a promotional offer for the next period of an active subscription.
    package mutating func redeem(_ offerID: String, at time: Int64) throws -> String {
        // An offer of the present product takes back a change to another one.
        subscription.nextProductID = subscription.last.productID
        subscription.nextOffer = Self.promotional(offerID)
        subscription.autoRenews = true
        return try notify("OFFER_REDEEMED", nil, at: time)
    }

    // MARK: What the device has

    /// All transactions in compact form, and the renewal info.
    package func proofs(at now: Int64) throws -> (transactions: [String], renewalInfo: String) {
        let transactions = try subscription.transactions.map {
            try signer.transaction(
                $0, of: subscription, appTransactionID, at: now, ownership: ownership)
        }
        return (
            transactions,
            try signer.renewalInfo(of: subscription, appTransactionID, account: account, at: now)
        )
    }

    package var originalTransactionID: String { subscription.originalID }

    /// When the current period ends.
    package var periodEnd: Int64 { subscription.last.expiresDate }

    // MARK: Steps

    private static func promotional(_ offerID: String) -> WorldOffer {
        WorldOffer(type: 2, identifier: offerID, discountType: "PAY_AS_YOU_GO")
    }

    private mutating func add(
        _ product: String, at time: Int64, isRenewal: Bool, offer: WorldOffer?, modification: Int = 0
    ) {
        transactionCount += 1
        subscription.transactions.append(
            WorldTransaction(
                id: "\(410_000_000_000_000 + number * 1000 + transactionCount)", productID: product,
                purchaseDate: time, expiresDate: time + Self.month, isRenewal: isRenewal,
                price: offer == .trial ? 0 : 9990, offer: offer, appAccountToken: account, modification: modification))
        subscription.autoRenews = true
        subscription.nextProductID = product
        subscription.nextOffer = nil
        subscription.expirationIntent = nil
        subscription.isRetrying = false
    }

    private mutating func notify(
        _ type: String, _ subtype: String?, at time: Int64, about place: Int? = nil
    ) throws -> String {
        notificationCount += 1
        let event = WorldEvent(
            type: type, subtype: subtype, date: time, customer: number, subscription: subscription,
            transaction: subscription.transactions[place ?? subscription.transactions.count - 1],
            appTransactionID: appTransactionID, account: account, ownership: ownership)
        return try signer.notification(event, uuid: WorldCustomer.uuid(UInt64(number), notificationCount))
    }
}
