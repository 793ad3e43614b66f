/// An endpoint of the App Store Server API that the service uses. The raw value is its name in metrics.
package enum APIEndpoint: String, CaseIterable, Sendable {
    case subscriptionStatuses = "subscription_statuses"
    case transactionHistory = "transaction_history"
    case transactionInfo = "transaction_info"
    case appTransactionInfo = "app_transaction_info"
    case orderLookup = "order_lookup"
    case notificationHistory = "notification_history"
    case testNotification = "test_notification"
    case testNotificationStatus = "test_notification_status"
    case appAccountToken = "app_account_token"

    // The endpoints for retention messages.
    case uploadMessage = "upload_message"
    case deleteMessage = "delete_message"
    case messageList = "message_list"
    case uploadImage = "upload_image"
    case deleteImage = "delete_image"
    case imageList = "image_list"
    case setDefaultMessage = "set_default_message"
    case defaultMessage = "default_message"
    case deleteDefaultMessage = "delete_default_message"
    case setRealtimeURL = "set_realtime_url"
    case realtimeURL = "realtime_url"
    case deleteRealtimeURL = "delete_realtime_url"
    case startPerformanceTest = "start_performance_test"
    case performanceTestResult = "performance_test_result"

    /// Apple's hourly limit for one app in production, stated in requests per second. The sandbox limit is a tenth of
    /// it.
    ///
    /// Source: Apple, "Identifying rate limits" (App Store Server API and Retention Messaging API documentation).
    var requestsPerSecond: Int {
        switch self {
        case .subscriptionStatuses, .transactionHistory, .transactionInfo, .appTransactionInfo, .notificationHistory: 50
        case .appAccountToken: 20
        case .setDefaultMessage, .orderLookup: 10
        case .testNotification, .testNotificationStatus, .uploadMessage, .deleteMessage, .messageList, .uploadImage,
            .deleteImage, .imageList, .defaultMessage, .deleteDefaultMessage, .setRealtimeURL, .realtimeURL,
            .deleteRealtimeURL, .startPerformanceTest, .performanceTestResult:
            1
        }
    }
}
