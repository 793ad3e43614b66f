import OfferConfiguration
package import OfferTelemetry

/// The metrics that ``SyncMetrics`` updates.
extension Metric {
    package static let redemptions = Metric(
        "offer_signer_redemptions_total", .counter, ["app", "environment", "product", "offer", "authorised"],
        "Redemptions of promotional offers found since the process began. `authorised` is `false` if no signature in the "
            + "ledger explains them, as for offers without a rule.")
    package static let redemptionDelay = Metric(
        "offer_signer_redemption_delay_seconds_total", .counter, ["app", "environment", "product", "offer"],
        "Time between signature and redemption, summed over the authorised redemptions of `offer_signer_redemptions_total`."
    )
    package static let appStoreData = Metric(
        "offer_signer_app_store_data_total", .counter, ["data", "outcome"],
        "App Store data in requests: `verified`, or `refused` because Apple did not sign it or it is for another app."
    )
    package static let appStoreDataRefusals = Metric(
        "offer_signer_app_store_refusals_total", .counter, ["check"],
        "App Store data refused, by the check that it failed.")
    package static let notifications = Metric(
        "offer_signer_notifications_total", .counter, ["outcome"],
        "App Store notifications: `stored`, `known` from an earlier delivery, `unusable` but stored, `recovered` because they "
            + "never arrived, `refused`, or `failed` and to be sent again.")
    package static let notificationTypes = Metric(
        "offer_signer_notification_types_total", .counter, ["app", "environment", "type"],
        "App Store notifications stored, by type. The type `other` is for those unknown to this version.")
    package static let apiRequests = Metric(
        "offer_signer_app_store_requests_total", .counter, ["endpoint", "environment", "outcome"],
        "Requests to the App Store Server API and to `verifyReceipt`: `success`, or the name of the failure.")
    package static let apiSeconds = Metric(
        "offer_signer_app_store_request_seconds", .histogram, [],
        "Response time of the App Store Server API and `verifyReceipt`, including failed requests.")
    package static let forwards = Metric(
        "offer_signer_forwards_total", .counter, ["receiver", "outcome"],
        "Attempts to forward notifications: `delivered`, `failed` and to be repeated, or `dead` after three days. A receiver is "
            + "named by scheme, host and port.")
}
