/// Signs what a generated world tells, with a chain made for tests.
struct WorldSigner: Sendable {
    private(set) var bundleID: String
    let appAppleID: Int64
    let environment: String
    private let chain: TestChain
    private let header: [UInt8]

    init(chain: TestChain, bundleID: String, appAppleID: Int64, environment: String) {
        self.chain = chain
        self.bundleID = bundleID
        self.appAppleID = appAppleID
        self.environment = environment
        header = Array(chain.header.utf8)
    }

    /// The signer of another app, for answers that must be refused.
    var ofAnotherApp: WorldSigner {
        var signer = self
        signer.bundleID = "com.example.other"
        return signer
    }

    /// A transaction in compact form.
    /// - Parameter ownership: Apple's `inAppOwnershipType`.
    func transaction(
        _ transaction: WorldTransaction, of subscription: WorldSubscription, _ appTransactionID: String, at now: Int64,
        ownership: String = "PURCHASED"
    ) throws -> String {
        // The copy of a seat's user has the seats of the purchaser.
        let isSeat = ownership == "ASSIGNED"
        let seats = isSeat ? 5 : transaction.seats
        var members: [(String, String)] = [
            ("transactionId", quoted(transaction.id)), ("originalTransactionId", quoted(subscription.originalID)),
            ("webOrderLineItemId", quoted("7" + transaction.id)), ("bundleId", quoted(bundleID)),
            ("productId", quoted(transaction.productID)), ("subscriptionGroupIdentifier", quoted(subscription.group)),
            ("purchaseDate", "\(transaction.purchaseDate)"),
            ("originalPurchaseDate", "\(subscription.transactions[0].purchaseDate)"),
            ("expiresDate", "\(transaction.expiresDate)"), ("quantity", "\(seats)"),
            ("type", quoted("Auto-Renewable Subscription")),
            ("inAppOwnershipType", quoted(ownership)),
            ("signedDate", "\(now)"), ("environment", quoted(environment)),
            ("transactionReason", quoted(transaction.isRenewal ? "RENEWAL" : "PURCHASE")),
            ("storefront", quoted(subscription.storefront.code)), ("storefrontId", quoted(subscription.storefront.id)),
            ("price", "\(transaction.price)"), ("currency", quoted(subscription.storefront.currency)),
            ("appTransactionId", quoted(appTransactionID)),
        ]
        if let token = transaction.appAccountToken { members.append(("appAccountToken", quoted(token))) }
        if let date = transaction.revocationDate {
            members += [("revocationDate", "\(date)"), ("revocationReason", "0")]
        }
        if transaction.isUpgraded { members.append(("isUpgraded", "true")) }
        if transaction.hasSeatAddition { members.append(("additionalTransactionReason", quoted("SEAT_ADDITION"))) }
        if transaction.hasSeatAddition || isSeat {
            let revoked = transaction.revokedSeats > 0 ? ",\"revokedSeatQuantity\":\(transaction.revokedSeats)" : ""
            let tiers = "[{\"price\":\(transaction.price),\"quantity\":\(seats)}]"
            members.append(
                ("multiSeatInfo", "{\"priceTiers\":\(tiers),\"invitationManagement\":\"APPLE\"\(revoked)}"))
        }
        members += transaction.commitment?.members ?? []
        members += transaction.offer?.members ?? []
        return try jws(members)
    }

    /// A renewal info in compact form.
    func renewalInfo(
        of subscription: WorldSubscription, _ appTransactionID: String, account: String?, at now: Int64
    ) throws -> String {
        var members: [(String, String)] = [
            ("originalTransactionId", quoted(subscription.originalID)),
            ("productId", quoted(subscription.last.productID)),
            ("autoRenewProductId", quoted(subscription.nextProductID)),
            ("autoRenewStatus", subscription.renewsNextPeriod ? "1" : "0"), ("signedDate", "\(now)"),
            ("environment", quoted(environment)), ("renewalDate", "\(subscription.last.expiresDate)"),
            ("appTransactionId", quoted(appTransactionID)),
        ]
        if let account { members.append(("appAccountToken", quoted(account))) }
        if let seats = subscription.nextSeats { members.append(("renewalQuantity", "\(seats)")) }
        if let intent = subscription.expirationIntent { members.append(("expirationIntent", "\(intent)")) }
        if subscription.isRetrying { members.append(("isInBillingRetryPeriod", "true")) }
        if let end = subscription.graceEnd { members.append(("gracePeriodExpiresDate", "\(end)")) }
        if let status = subscription.priceIncreaseStatus { members.append(("priceIncreaseStatus", "\(status)")) }
        members += subscription.nextOffer?.members ?? []
        members += subscription.commitmentMembers
        return try jws(members)
    }

    /// A notification in compact form.
    func notification(_ event: WorldEvent, uuid: String) throws -> String {
        if !event.unclaimedSeats.isEmpty { return try unclaim(event, uuid: uuid) }
        let data: [(String, String)] = [
            ("appAppleId", "\(appAppleID)"), ("bundleId", quoted(bundleID)), ("bundleVersion", quoted("1")),
            ("environment", quoted(environment)), ("status", "\(event.subscription.status(at: event.date))"),
            (
                "signedTransactionInfo",
                quoted(
                    try transaction(
                        event.transaction, of: event.subscription, event.appTransactionID, at: event.date,
                        ownership: event.ownership))
            ),
            (
                "signedRenewalInfo",
                quoted(
                    try renewalInfo(
                        of: event.subscription, event.appTransactionID, account: event.account, at: event.date))
            ),
        ]
        return try notification(type: event.type, subtype: event.subtype, uuid: uuid, date: event.date, data: data)
    }

    /// The notification of type `UNCLAIM_SEATS`, whose content names seats and no transaction. Apple's page names only
    /// `unclaimSeatIds`, so about half of them have no other member. The others name the app as other contents do.
    private func unclaim(_ event: WorldEvent, uuid: String) throws -> String {
        let ids = "[" + event.unclaimedSeats.map(quoted).joined(separator: ",") + "]"
        let app = [
            ("appAppleId", "\(appAppleID)"), ("bundleId", quoted(bundleID)), ("environment", quoted(environment)),
        ]
        let namesApp = event.unclaimedSeats[0].utf8.last.map { $0 % 2 == 0 } ?? true
        return try notification(
            type: event.type, subtype: event.subtype, uuid: uuid, date: event.date, content: "unclaimInfo",
            data: (namesApp ? app : []) + [("unclaimSeatIds", ids)])
    }

    /// The notification of type `TEST`.
    func test(uuid: String, at now: Int64) throws -> String {
        try notification(
            type: "TEST", subtype: nil, uuid: uuid, date: now,
            data: [
                ("appAppleId", "\(appAppleID)"), ("bundleId", quoted(bundleID)), ("environment", quoted(environment)),
            ])
    }

    private func notification(
        type: String, subtype: String?, uuid: String, date: Int64, content: String = "data", data: [(String, String)]
    ) throws -> String {
        var members: [(String, String)] = [("notificationType", quoted(type))]
        if let subtype { members.append(("subtype", quoted(subtype))) }
        return try jws(
            members + [
                ("notificationUUID", quoted(uuid)), ("version", quoted("2.0")), ("signedDate", "\(date)"),
                (content, object(data)),
            ])
    }

    /// A request for a retention message in compact form.
    func retentionRequest(_ view: StandInWorld.PageView, at now: Int64) throws -> String {
        try jws([
            ("originalTransactionId", quoted(view.originalTransactionID)), ("appAppleId", "\(appAppleID)"),
            ("productId", quoted(view.productID)), ("userLocale", quoted(view.locale)),
            ("requestIdentifier", quoted(view.requestIdentifier)), ("environment", quoted(environment)),
            ("signedDate", "\(now)"),
        ])
    }

    /// An AppTransaction in compact form.
    func appTransaction(_ id: String, at now: Int64) throws -> String {
        try jws([
            ("receiptType", quoted(environment)), ("appAppleId", "\(appAppleID)"), ("bundleId", quoted(bundleID)),
            ("applicationVersion", quoted("4.2")), ("receiptCreationDate", "\(now)"),
            ("originalPurchaseDate", "1698148800000"), ("originalApplicationVersion", quoted("1.0")),
            ("appTransactionId", quoted(id)), ("originalPlatform", quoted("iOS")),
        ])
    }

    private func jws(_ members: [(String, String)]) throws -> String {
        String(decoding: try chain.jws(header: header, payload: Array(object(members).utf8)), as: UTF8.self)
    }

    private func object(_ members: [(String, String)]) -> String {
        "{" + members.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}"
    }

    private func quoted(_ text: String) -> String { "\"\(text)\"" }
}
