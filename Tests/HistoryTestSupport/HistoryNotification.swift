import AppStoreData
import OfferCore
import OfferEligibility

/// A notification as the App Store would send it, and the facts that a reader is to find in it.
struct HistoryNotification {
    /// The same in both environments.
    let uuid: String
    let type: String
    let subtype: String?
    let signedDate: Timestamp
    /// As a reference: they were made of what happened, not read.
    let facts: [SubscriberFact]

    /// Notifications that name no purchase, one of each kind.
    /// - Parameter number: tells which comes first.
    static func withoutPurchases(at date: Timestamp, number: UInt64) -> [HistoryNotification] {
        let types = [
            ("TEST", nil), ("RENEWAL_EXTENSION", "SUMMARY"), ("EXTERNAL_PURCHASE_TOKEN", "UNREPORTED"),
            ("RESCIND_CONSENT", nil),
        ]
        return types.enumerated().map { place, type in
            HistoryNotification(
                uuid: "0-\((UInt64(place) + number) % 4)", type: type.0, subtype: type.1, signedDate: date, facts: [])
        }
    }
}

// MARK: What a reader finds

extension HistoryNotification {
    /// Reads the notification as the service does, but for the signatures.
    func read(of bundleID: BundleID, in environment: AppStoreEnvironment) throws -> VerifiedNotification {
        // The texts of the JWS inside are their names.
        let source = Source(
            bundleID: bundleID, environment: environment, transaction: "transaction", renewal: "renewal")
        let texts = ["transaction": source.transaction(in: facts), "renewal": source.renewal(in: facts)]
        let app = try ExpectedApp(
            bundleID: bundleID, appAppleID: Self.appAppleID(of: bundleID), environments: [.production, .sandbox],
            isDevelopment: false)
        return try VerifiedNotification(
            AppStoreNotification(json: source.json(self)), for: ExpectedApps([app])
        ) { jws, _ throws(PayloadError) in
            try PayloadObject(json: texts[String(decoding: jws, as: UTF8.self)].flatMap(\.self) ?? [])
        }
    }

    /// A number that few apps share.
    static func appAppleID(of bundleID: BundleID) -> Int64 {
        bundleID.text.utf8.reduce(1) { ($0 * 31 + Int64($1)) % 1_000_000_007 } + 1
    }

    /// The payloads of the transaction and of the renewal info, as a device has them too; nil for what is not among the facts.
    func parts(of bundleID: BundleID, in environment: AppStoreEnvironment) -> (transaction: [UInt8]?, renewal: [UInt8]?)
    {
        let source = Source(bundleID: bundleID, environment: environment)
        return (source.transaction(in: facts), source.renewal(in: facts))
    }

    /// The body that the App Store would post.
    /// - Parameter sign: makes the JWS of a payload.
    func body(
        of bundleID: BundleID, in environment: AppStoreEnvironment, signedBy sign: ([UInt8]) throws -> [UInt8]
    ) rethrows -> [UInt8] {
        var source = Source(bundleID: bundleID, environment: environment)
        func jws(_ payload: [UInt8]) throws -> String { String(decoding: try sign(payload), as: UTF8.self) }
        if let transaction = source.transaction(in: facts) { source.transaction = try jws(transaction) }
        if let renewal = source.renewal(in: facts) { source.renewal = try jws(renewal) }
        var writer = JSONWriter()
        writer.member("signedPayload", try jws(source.json(self)))
        return writer.finish()
    }
}

/// Writes payloads as the App Store does.
private struct Source {
    let bundleID: BundleID
    let environment: AppStoreEnvironment
    /// The texts of the JWS inside a notification.
    var transaction = ""
    var renewal = ""

    func transaction(in facts: [SubscriberFact]) -> [UInt8]? {
        facts.lazy.compactMap { fact in
            if case .transaction(let purchase) = fact.value { json(purchase, fact) } else { nil }
        }.last
    }

    func renewal(in facts: [SubscriberFact]) -> [UInt8]? {
        facts.lazy.compactMap { fact in
            if case .renewalInfo(let renewal) = fact.value { json(renewal, fact) } else { nil }
        }.last
    }

    func json(_ notification: HistoryNotification) -> [UInt8] {
        var writer = JSONWriter()
        writer.member("notificationType", notification.type)
        writer.member("subtype", ifAny: notification.subtype)
        writer.member("notificationUUID", notification.uuid)
        writer.member("version", "2.0")
        writer.member("signedDate", notification.signedDate.milliseconds)
        switch notification.type {
        case "RESCIND_CONSENT": writer.object("appData", writeOrigin)
        case "EXTERNAL_PURCHASE_TOKEN":
            writer.object("externalPurchaseToken") { writer in
                writer.member("externalPurchaseId", (environment == .sandbox ? "SANDBOX_" : "") + notification.uuid)
                writer.member("tokenCreationDate", notification.signedDate.milliseconds)
                writer.member("appAppleId", HistoryNotification.appAppleID(of: bundleID))
                writer.member("bundleId", bundleID.text.description)
            }
        case "RENEWAL_EXTENSION" where notification.facts.isEmpty:
            writer.object("summary") { writer in
                writeOrigin(&writer)
                writer.member("requestIdentifier", notification.uuid)
                writer.member("productId", "monthly")
                writer.member("succeededCount", 5)
                writer.member("failedCount", 2)
            }
        default: writer.object("data") { write(notification.facts, to: &$0) }
        }
        return writer.finish()
    }

    private func writeOrigin(_ writer: inout JSONWriter) {
        writer.member("appAppleId", HistoryNotification.appAppleID(of: bundleID))
        writer.member("bundleId", bundleID.text.description)
        writer.member("environment", environment.rawValue)
    }

    private func write(_ facts: [SubscriberFact], to writer: inout JSONWriter) {
        writeOrigin(&writer)
        for fact in facts {
            switch fact.value {
            case .transaction: writer.member("signedTransactionInfo", transaction)
            case .renewalInfo: writer.member("signedRenewalInfo", renewal)
            case .status(let status): writer.member("status", status.rawValue)
            // The type of the notification says it.
            default: break
            }
        }
    }

    private func json(_ purchase: Purchase, _ fact: SubscriberFact) -> [UInt8] {
        var writer = JSONWriter()
        writer.member("transactionId", fact.key.id.text.description)
        writer.member("originalTransactionId", fact.originalTransactionID.text.description)
        writer.member("bundleId", bundleID.text.description)
        writer.member("environment", environment.rawValue)
        writer.member("productId", purchase.productID.text.description)
        writer.member("purchaseDate", purchase.purchaseDate.milliseconds)
        writer.member("signedDate", fact.signedDate.milliseconds)
        writer.member("expiresDate", ifAny: purchase.expiresDate)
        writer.member("type", ifAny: purchase.type?.rawValue)
        writer.member("subscriptionGroupIdentifier", ifAny: purchase.subscriptionGroupID)
        writer.member("webOrderLineItemId", ifAny: purchase.webOrderLineItemID)
        writer.member("inAppOwnershipType", ifAny: purchase.ownership?.rawValue)
        writer.member("transactionReason", ifAny: purchase.reason?.rawValue)
        writer.member("price", ifAny: purchase.price)
        writer.member("storefront", ifAny: purchase.storefront)
        writer.member("currency", ifAny: purchase.currency)
        writer.member("billingPlanType", ifAny: purchase.billingPlan?.rawValue)
        if let commitment = purchase.commitment {
            writer.object("commitmentInfo") { writer in
                writer.member("billingPeriodNumber", ifAny: commitment.billingPeriodNumber)
                writer.member("totalBillingPeriods", ifAny: commitment.totalBillingPeriods)
                writer.member("commitmentExpiresDate", ifAny: commitment.expiresDate)
                writer.member("commitmentPrice", ifAny: commitment.price)
            }
        }
        writer.member("additionalTransactionReason", ifAny: purchase.additionalReason?.rawValue)
        writer.member("quantity", ifAny: purchase.quantity)
        if let seats = purchase.seats {
            writer.object("multiSeatInfo") { writer in
                writer.objects("priceTiers", seats.priceTiers) { writer, tier in
                    writer.member("price", ifAny: tier.price)
                    writer.member("quantity", ifAny: tier.quantity)
                }
                writer.member("invitationManagement", ifAny: seats.invitationManagement?.rawValue)
                writer.member("revokedSeatQuantity", ifAny: seats.revokedQuantity)
            }
        }
        writer.member("appAccountToken", ifAny: purchase.appAccountToken?.description)
        writer.member("appTransactionId", ifAny: purchase.appTransactionID?.text.description)
        writer.member("revocationDate", ifAny: purchase.revocation?.date)
        writer.member("revocationReason", ifAny: purchase.revocation?.reason?.rawValue)
        writer.member("revocationType", ifAny: purchase.revocation?.type?.rawValue)
        writer.member("revocationPercentage", ifAny: purchase.revocation?.percentage)
        writer.offer(purchase.offer)
        return writer.finish()
    }

    private func json(_ renewal: Renewal, _ fact: SubscriberFact) -> [UInt8] {
        var writer = JSONWriter()
        writer.member("originalTransactionId", fact.originalTransactionID.text.description)
        writer.member("environment", environment.rawValue)
        writer.member("productId", renewal.productID.text.description)
        writer.member("autoRenewStatus", renewal.autoRenewStatus.rawValue)
        writer.member("autoRenewProductId", ifAny: renewal.autoRenewProductID?.text.description)
        writer.member("signedDate", fact.signedDate.milliseconds)
        writer.member("renewalDate", ifAny: renewal.renewalDate)
        writer.member("expirationIntent", ifAny: renewal.expirationIntent?.rawValue)
        if let isRetrying = renewal.isInBillingRetryPeriod { writer.member("isInBillingRetryPeriod", isRetrying) }
        writer.member("gracePeriodExpiresDate", ifAny: renewal.gracePeriodExpiresDate)
        writer.member("priceIncreaseStatus", ifAny: renewal.priceIncreaseStatus?.rawValue)
        writer.member("renewalBillingPlanType", ifAny: renewal.billingPlan?.rawValue)
        if let commitment = renewal.commitment {
            writer.object("commitmentInfo") { writer in
                writer.member(
                    "commitmentAutoRenewProductId", ifAny: commitment.autoRenewProductID?.text.description)
                writer.member("commitmentAutoRenewStatus", ifAny: commitment.autoRenewStatus?.rawValue)
                writer.member("commitmentRenewalBillingPlanType", ifAny: commitment.billingPlanType?.rawValue)
                writer.member("commitmentRenewalDate", ifAny: commitment.date)
                writer.member("commitmentRenewalPrice", ifAny: commitment.price)
            }
        }
        writer.member("appAccountToken", ifAny: renewal.appAccountToken?.description)
        writer.member("appTransactionId", ifAny: renewal.appTransactionID?.text.description)
        if !renewal.eligibleWinBackOfferIDs.isEmpty {
            writer.member("eligibleWinBackOfferIds", renewal.eligibleWinBackOfferIDs)
        }
        writer.offer(renewal.offer)
        return writer.finish()
    }
}

extension JSONWriter {
    fileprivate mutating func member(_ name: String, ifAny text: String?) {
        if let text { member(name, text) }
    }

    fileprivate mutating func member(_ name: String, ifAny number: Int64?) {
        if let number { member(name, number) }
    }

    fileprivate mutating func member(_ name: String, ifAny time: Timestamp?) {
        if let time { member(name, time.milliseconds) }
    }

    fileprivate mutating func offer(_ offer: AppliedOffer?) {
        guard let offer else { return }
        member("offerType", offer.type.rawValue)
        member("offerIdentifier", ifAny: offer.identifier)
        member("offerDiscountType", ifAny: offer.discountType?.rawValue)
        member("offerPeriod", ifAny: offer.period)
    }
}
