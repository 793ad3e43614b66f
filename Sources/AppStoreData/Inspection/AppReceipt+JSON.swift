import OfferCore

extension AppReceipt {
    /// The contents as a JSON object with the names and types of `receipt` in a verifyReceipt response. All values are
    /// strings except the app's Apple ID. Of Apple's three date formats, only milliseconds are written.
    var json: [UInt8] {
        var writer = JSONWriter()
        writer.member("receipt_type", type.rawValue)
        writer.member("bundle_id", utf8: bundleID.text.utf8)
        if let id = appAppleID.flatMap({ Int64(exactly: $0) }) { writer.member("adam_id", id) }
        writer.member("application_version", appVersion)
        writer.member("original_application_version", originalAppVersion)
        writer.member("receipt_creation_date_ms", creationDate)
        writer.member("original_purchase_date_ms", originalPurchaseDate)
        writer.member("expiration_date_ms", expirationDate)
        writer.objects("in_app", purchases) { $1.write(to: &$0) }
        return writer.finish()
    }
}

extension ReceiptPurchase {
    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("quantity", quantity.map { String($0) })
        writer.member("product_id", utf8: productID.text.utf8)
        writer.member("transaction_id", transactionID.text)
        writer.member("original_transaction_id", originalTransactionID?.text)
        writer.member("purchase_date_ms", purchaseDate)
        writer.member("original_purchase_date_ms", originalPurchaseDate)
        writer.member("expires_date_ms", expirationDate)
        writer.member("cancellation_date_ms", cancellationDate)
        writer.member("web_order_line_item_id", webOrderLineItemID.map { String($0) })
        writer.member("is_trial_period", isInTrialPeriod.map { String($0) })
        writer.member("is_in_intro_offer_period", isInIntroductoryPricePeriod.map { String($0) })
        writer.member("promotional_offer_id", promotionalOfferID?.text)
    }
}

extension JSONWriter {
    /// Writes nothing for nil, as verifyReceipt does.
    fileprivate mutating func member(_ name: String, _ text: FieldText?) {
        if let text { member(name, utf8: text.utf8) }
    }

    fileprivate mutating func member(_ name: String, _ text: String?) {
        if let text { member(name, text) }
    }

    fileprivate mutating func member(_ name: String, _ time: Timestamp?) {
        if let time { member(name, String(time.milliseconds)) }
    }
}
