/// The endpoints of the App Store Server API that the service uses. The raw values are names for metrics.
package enum APIEndpoint: String, CaseIterable, Sendable {
    case subscriptionStatuses = "subscription_statuses"
    case transactionHistory = "transaction_history"
    case transactionInfo = "transaction_info"
    case appTransactionInfo = "app_transaction_info"
    case notificationHistory = "notification_history"
    case testNotification = "test_notification"
    case testNotificationStatus = "test_notification_status"
    case appAccountToken = "app_account_token"

    /// Apple's limit for one app in production, in requests per second, counted by the hour. The sandbox has a tenth.
    ///
    /// Source: Apple, "Identifying rate limits" (App Store Server API documentation).
    var requestsPerSecond: Int {
        switch self {
        case .subscriptionStatuses, .transactionHistory, .transactionInfo, .appTransactionInfo, .notificationHistory: 50
        case .appAccountToken: 20
        case .testNotification, .testNotificationStatus: 1
        }
    }
}
