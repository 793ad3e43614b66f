package import OfferCore
import OfferCrypto
package import OfferEligibility

/// The purchases and renewals that `verifyReceipt` describes. They are not signed, but Apple sent them over TLS.
package struct ReceiptServiceAnswer: Sendable {
    package let environment: AppStoreEnvironment
    package let bundleID: BundleID
    /// The app's Apple ID; nil outside production.
    package let appAppleID: Int64?
    /// The time of Apple's answer, by Apple's clock.
    package let date: Timestamp
    private let purchases: [(id: TransactionID, original: TransactionID, purchase: Purchase)]
    private let renewals: [(original: TransactionID, renewal: Renewal)]

    /// Reads an answer.
    /// - Parameter environment: the queried environment, because some answers lack the member `environment`.
    /// - Throws: a failure if the status means that there is no data, or if the answer is unreadable.
    package init(json: [UInt8], from environment: AppStoreEnvironment) throws(ReceiptServiceFailure) {
        let status: ReceiptServiceStatus
        let isMarkedRetryable: Bool?
        do throws(AnswerError) {
            let answer = try AnswerReader(json: json, isLarge: true)
            status = ReceiptServiceStatus(rawValue: try answer.integer("status"))
            isMarkedRetryable = try answer.flag("is_retryable")
            if status.hasData {
                self = try ReceiptServiceAnswer(answer, from: environment)
                return
            }
        } catch { throw .unreadable(error) }
        throw status.isRetryable(isMarkedRetryable) ? .temporary(status) : .status(status)
    }

    private init(_ answer: AnswerReader, from environment: AppStoreEnvironment) throws(AnswerError) {
        guard let receipt = try answer.object("receipt") else { throw answer.missing("receipt") }
        self.environment = environment
        let name = try receipt.text("bundle_id")
        do { bundleID = try BundleID(utf8: name) } catch { throw receipt.wrongType("bundle_id", "a bundle ID") }
        let number = try receipt.looseInteger("adam_id") ?? 0
        appAppleID = number == 0 ? nil : number
        guard let date = try receipt.date("request_date") else { throw receipt.missing("request_date_ms") }
        self.date = date
        var purchases: [(id: TransactionID, original: TransactionID, purchase: Purchase)] = []
        // in_app lists the purchases at the receipt's creation; latest_receipt_info also lists later changes.
        for item in try receipt.objects("in_app") + answer.objects("latest_receipt_info") {
            guard let id = try item.transactionID("transaction_id") else { throw item.missing("transaction_id") }
            purchases.append((id, try item.transactionID("original_transaction_id") ?? id, try Purchase(item)))
        }
        self.purchases = purchases
        var renewals: [(original: TransactionID, renewal: Renewal)] = []
        for item in try answer.objects("pending_renewal_info") {
            guard let original = try item.transactionID("original_transaction_id") else {
                throw item.missing("original_transaction_id")
            }
            renewals.append((original, try Renewal(item)))
        }
        self.renewals = renewals
    }

    /// One fact for each transaction and renewal, with the date of the answer. Each digest is the hash of the fact's
    /// content.
    package var facts: [SubscriberFact] {
        get throws(OpenSSLError) {
            var facts: [SubscriberFact.Key: SubscriberFact] = [:]
            for item in purchases {
                let fact = try fact(.fetchedTransaction(item.purchase), item.id, of: item.original)
                // The entries of latest_receipt_info come later and have more detail than those of in_app.
                facts[fact.key] = fact
            }
            let products = currentProducts
            // A subscription that changed its product can have an entry for each product. The entry of its current
            // product is used.
            var current: Set<TransactionID> = []
            for item in renewals {
                let fact = try fact(.fetchedRenewalInfo(item.renewal), item.original, of: item.original)
                if products[item.original] == item.renewal.productID {
                    current.insert(item.original)
                } else if current.contains(item.original) {
                    continue
                } else if let known = facts[fact.key], known.replaces(fact) {
                    continue
                }
                facts[fact.key] = fact
            }
            return facts.values.sorted { $0.digest.lexicographicallyPrecedes($1.digest) }
        }
    }

    /// The most recently bought product of each subscription.
    private var currentProducts: [TransactionID: ProductID] {
        Dictionary(grouping: purchases, by: \.original).compactMapValues { purchases in
            purchases.map(\.purchase).max { $0.purchaseDate < $1.purchaseDate }?.productID
        }
    }

    private func fact(
        _ value: SubscriberFact.Value, _ id: TransactionID, of original: TransactionID
    ) throws(OpenSSLError) -> SubscriberFact {
        let unhashed = SubscriberFact(
            value, transactionID: id, originalTransactionID: original, signedDate: date, digest: [])
        return SubscriberFact(
            value, transactionID: id, originalTransactionID: original, signedDate: date,
            digest: try SHA256.hash(unhashed.encoded))
    }
}

extension Purchase {
    /// Reads an element of `latest_receipt_info` or `in_app`. In signed transactions, Apple uses other names for the
    /// members.
    ///
    /// `original_purchase_date` and `quantity` are not kept, just as for signed transactions. The first is the purchase
    /// date of the original transaction, and nothing depends on the quantity of a consumable.
    fileprivate init(_ item: AnswerReader) throws(AnswerError) {
        let name = try item.text("product_id")
        let productID: ProductID
        do { productID = try ProductID(utf8: name) } catch { throw item.wrongType("product_id", "a product ID") }
        guard let purchaseDate = try item.date("purchase_date") else { throw item.missing("purchase_date_ms") }
        self.init(productID: productID, purchaseDate: purchaseDate)
        expiresDate = try item.date("expires_date")
        // The answer does not state the product type, but only subscriptions have an expiry date. Other types are not
        // distinguished.
        type = expiresDate == nil ? nil : .autoRenewableSubscription
        subscriptionGroupID = try item.string("subscription_group_identifier")
        webOrderLineItemID = try item.string("web_order_line_item_id")
        ownership = try item.string("in_app_ownership_type").map(OwnershipType.init)
        offer = try AppliedOffer(ofPurchase: item)
        if let date = try item.date("cancellation_date") {
            revocation = Revocation(
                date: date, reason: try item.looseInteger("cancellation_reason").map(RevocationReason.init))
        }
        isUpgraded = try item.flag("is_upgraded") ?? false
        appAccountToken = try item.string("app_account_token").flatMap { UUIDText(parsing: Array($0.utf8)) }
    }
}

extension Renewal {
    /// Reads an element of `pending_renewal_info`.
    fileprivate init(_ item: AnswerReader) throws(AnswerError) {
        let productID = try item.productID("product_id")
        guard let productID else { throw item.missing("product_id") }
        guard let status = try item.looseInteger("auto_renew_status") else { throw item.missing("auto_renew_status") }
        self.init(productID: productID, autoRenewStatus: AutoRenewStatus(rawValue: status))
        autoRenewProductID = try item.productID("auto_renew_product_id")
        expirationIntent = try item.looseInteger("expiration_intent").map(ExpirationIntent.init)
        isInBillingRetryPeriod = try item.flag("is_in_billing_retry_period")
        gracePeriodExpiresDate = try item.date("grace_period_expires_date")
        let announced = try item.looseInteger("price_consent_status")
        priceIncreaseStatus = try (item.looseInteger("price_increase_status") ?? announced).map(
            PriceIncreaseStatus.init)
        offer = try AppliedOffer(ofRenewal: item)
    }
}

extension AppliedOffer {
    fileprivate init?(ofPurchase item: AnswerReader) throws(AnswerError) {
        let isTrial = try item.flag("is_trial_period") ?? false
        let isIntroductory = try item.flag("is_in_intro_offer_period") ?? false
        if let offer = try Self(ofRenewal: item) {
            self = offer
            if isTrial { discountType = .freeTrial }
        } else if isTrial || isIntroductory {
            self.init(type: .introductory, discountType: isTrial ? .freeTrial : nil)
        } else {
            return nil
        }
    }

    fileprivate init?(ofRenewal item: AnswerReader) throws(AnswerError) {
        if let id = try item.string("promotional_offer_id") {
            self.init(type: .promotional, identifier: id)
        } else if let name = try item.string("offer_code_ref_name") {
            self.init(type: .offerCode, identifier: name)
        } else {
            return nil
        }
    }
}
