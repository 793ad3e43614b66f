import OfferCore

/// The legacy `verifyReceipt` about generated customers.
extension StandInWorld {
    /// Describes what a receipt contains now. A stand-in does not verify receipts: it takes the first text in one that is the
    /// transaction ID of a customer.
    /// - Parameters:
    ///   - others: the world of the other environment, to which receipts of its customers are referred.
    ///   - excludesOld: whether only the last period of each subscription is listed.
    package func verifyReceipt(
        _ receipt: [UInt8], beside others: StandInWorld, excludesOld: Bool, at now: Int64
    ) -> [UInt8] {
        let ids = Self.numbers(in: receipt)
        if let customer = ids.lazy.compactMap({ self.customer($0) }).first {
            return description(of: customer, excludesOld: excludesOld, at: now)
        }
        guard ids.contains(where: { others.customer($0) != nil }) else { return Self.status(21_002) }
        return Self.status(settings.environment == "Production" ? 21_007 : 21_008)
    }

    package static func status(_ status: Int64) -> [UInt8] {
        var writer = JSONWriter()
        writer.member("status", status)
        return writer.finish()
    }

    private static func numbers(in receipt: [UInt8]) -> [String] {
        receipt.split { !(0x30...0x39).contains($0) }.filter { $0.count >= 15 }.map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    private func description(of customer: WorldCustomer, excludesOld: Bool, at now: Int64) -> [UInt8] {
        var writer = JSONWriter()
        writer.member("status", Int64(0))
        writer.member("environment", settings.environment)
        writer.object("receipt") { writer in
            writer.member("bundle_id", settings.bundleID)
            writer.member("adam_id", settings.environment == "Production" ? settings.appAppleID : 0)
            writer.member("request_date_ms", "\(now)")
            writer.objects("in_app", [Int]()) { _, _ in }
        }
        let bought = customer.subscriptions.filter { !$0.transactions.isEmpty }
        let listed = bought.flatMap { subscription in
            (excludesOld ? [subscription.last] : subscription.all).map { (subscription, $0) }
        }
        writer.objects("latest_receipt_info", listed) { writer, item in
            write(item.1, of: item.0, to: &writer)
            writer.member("in_app_ownership_type", customer.ownership)
        }
        writer.objects("pending_renewal_info", bought) { writer, subscription in write(subscription, to: &writer) }
        return writer.finish()
    }

    private func write(
        _ transaction: WorldTransaction, of subscription: WorldSubscription, to writer: inout JSONWriter
    ) {
        writer.member("transaction_id", transaction.id)
        writer.member("original_transaction_id", subscription.originalID)
        writer.member("web_order_line_item_id", "7" + transaction.id)
        writer.member("product_id", transaction.productID)
        writer.member("subscription_group_identifier", subscription.group)
        writer.member("purchase_date_ms", "\(transaction.purchaseDate)")
        writer.member("expires_date_ms", "\(transaction.expiresDate)")
        writer.member("is_trial_period", transaction.offer == .trial ? "true" : "false")
        writer.member("is_in_intro_offer_period", "false")
        if transaction.offer?.type == 2 { writer.member("promotional_offer_id", transaction.offer?.identifier ?? "") }
        if let date = transaction.revocationDate {
            writer.member("cancellation_date_ms", "\(date)")
            writer.member("cancellation_reason", "0")
        }
        if transaction.isUpgraded { writer.member("is_upgraded", "true") }
        if let token = transaction.appAccountToken { writer.member("app_account_token", token) }
    }

    private func write(_ subscription: WorldSubscription, to writer: inout JSONWriter) {
        writer.member("original_transaction_id", subscription.originalID)
        writer.member("product_id", subscription.last.productID)
        writer.member("auto_renew_product_id", subscription.nextProductID)
        writer.member("auto_renew_status", subscription.renewsNextPeriod ? "1" : "0")
        if let intent = subscription.expirationIntent { writer.member("expiration_intent", "\(intent)") }
        if subscription.isRetrying { writer.member("is_in_billing_retry_period", "1") }
        if let end = subscription.graceEnd { writer.member("grace_period_expires_date_ms", "\(end)") }
        if let status = subscription.priceIncreaseStatus { writer.member("price_increase_status", "\(status)") }
        if let offer = subscription.nextOffer, offer.type == 2 {
            writer.member("promotional_offer_id", offer.identifier ?? "")
        }
    }
}
