import OfferConfiguration
package import OfferTelemetry

/// The metrics that ``SyncMetrics`` counts, and those of ``SyncFigures``.
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
        "App Store notifications stored, by type. `other` is for unknown types whose names are not like Apple's, and for more "
            + "than twenty unknown types.")
    package static let apiRequests = Metric(
        "offer_signer_app_store_requests_total", .counter, ["endpoint", "environment", "outcome"],
        "Requests to the App Store Server API and to `verifyReceipt`: `success`, or the name of the failure.")
    package static let apiSeconds = Metric(
        "offer_signer_app_store_request_seconds", .histogram, [],
        "Response time of the App Store Server API and `verifyReceipt`, including failed requests.")
    package static let connectRequests = Metric(
        "offer_signer_app_store_connect_requests_total", .counter, ["outcome"],
        "Requests to App Store Connect: `success`, or the name of the failure.")
    package static let catalogueFindings = Metric(
        "offer_signer_catalogue_findings", .gauge, ["app", "severity"],
        "Differences between the catalogue and App Store Connect: `error` if customers would meet them, otherwise `warning`. "
            + "Absent until App Store Connect has been read, and after a day without a reading.")
    package static let catalogueRead = Metric(
        "offer_signer_catalogue_read_timestamp_seconds", .gauge, ["app"],
        "Time at which the latest reading of App Store Connect began, in Unix time. Absent until then."
    )
    package static let reports = Metric(
        "offer_signer_reports_total", .counter, ["outcome"],
        "Reports: `made`, or `failed`; the log has the reason.")
    package static let reviews = Metric(
        "offer_signer_reviews_total", .counter, ["outcome"],
        "Reviews of customers that find events: `made`, `repeated` because records changed meanwhile, or `failed`; the log has "
            + "the reason.")
    package static let oldestReview = Metric(
        "offer_signer_oldest_review_timestamp_seconds", .gauge, ["app", "environment"],
        "Time since which the most overdue review of a customer is due, in Unix time. Absent if none is overdue.")
    package static let events = Metric(
        "offer_signer_events_total", .counter, ["type"],
        "Events of customers put into the outbox, by type.")
    package static let forwards = Metric(
        "offer_signer_forwards_total", .counter, ["receiver", "outcome"],
        "Attempts to send notifications and events: `delivered`, `failed` and to be repeated, or `dead` after three days. A receiver is "
            + "named by scheme, host and port.")
    package static let unexplainedRedemptions = Metric(
        "offer_signer_unexplained_redemptions", .gauge, ["environment"],
        "Redemptions that no signature of this service explains and nobody has acknowledged. Above 0, "
            + "somebody else may hold a key. Absent without a database.")
    package static let lastNotification = Metric(
        "offer_signer_last_notification_timestamp_seconds", .gauge, ["app", "environment"],
        "Time at which the last notification arrived, in Unix time. Absent until the first one.")
    package static let notificationLag = Metric(
        "offer_signer_notification_lag_seconds", .gauge, ["app", "environment"],
        "Time between the signing and the arrival of the newest notification. Absent until the first one.")
    package static let subscriptions = Metric(
        "offer_signer_subscriptions", .gauge, ["app", "environment"],
        "Subscriptions in the database, expired ones included.")
    package static let recoveredUntil = Metric(
        "offer_signer_recovered_until_timestamp_seconds", .gauge, ["app", "environment"],
        "Time up to which the App Store's notification history has been read, in Unix time. Absent before the first read."
    )
    package static let subscriptionsDue = Metric(
        "offer_signer_subscriptions_due", .gauge, ["app", "environment"],
        "Subscriptions whose refresh from the App Store is due, counted up to 100,000. Absent if they are not refreshed."
    )
    package static let forwardsPending = Metric(
        "offer_signer_forwards_pending", .gauge, ["receiver"], "Notifications and events waiting to be sent.")
    package static let forwardsDead = Metric(
        "offer_signer_forwards_dead", .gauge, ["receiver"],
        "Notifications and events given up because their receiver never accepted them.")
    package static let oldestForward = Metric(
        "offer_signer_oldest_forward_timestamp_seconds", .gauge, ["receiver"],
        "Time at which the oldest waiting notification was received or event was found, in Unix time. Absent if none waits."
    )
}
