package import OfferCore
import OfferEligibility

/// A notification from the App Store's history, not yet verified.
package struct SentNotification: Hashable, Sendable {
    package struct Attempt: Hashable, Sendable {
        package let date: Timestamp
        /// Apple's name for the result: `SUCCESS`, or the reason the attempt failed.
        package let result: String
    }

    /// The original signed notification, as a JWS in compact form.
    package let signedPayload: [UInt8]
    /// The attempts to send the notification, at most six.
    package let attempts: [Attempt]
}

/// A page of the answer to Get Notification History.
package struct NotificationHistoryPage: Hashable, Sendable {
    /// The notifications, at most 20.
    package let notifications: [SentNotification]
    /// The number of unreadable entries.
    package let unreadableCount: Int
    /// The token of the next page; nil if there is none.
    package let next: String?
}

/// A query for Get Notification History. It stays the same for all pages.
package struct NotificationHistoryQuery: Hashable, Sendable {
    package let start: Timestamp
    package let end: Timestamp
    /// True to list only notifications that the server has not received.
    package let onlyFailures: Bool

    package init(start: Timestamp, end: Timestamp, onlyFailures: Bool = false) {
        self.start = start
        self.end = end
        self.onlyFailures = onlyFailures
    }

    fileprivate var body: [UInt8] {
        var writer = JSONWriter()
        writer.member("startDate", start.milliseconds)
        writer.member("endDate", end.milliseconds)
        if onlyFailures { writer.member("onlyFailures", true) }
        return writer.finish()
    }
}

extension APICall<NotificationHistoryPage> {
    /// Creates a Get Notification History request.
    /// - Parameter token: the token from the previous page; nil for the first page.
    package static func notificationHistory(_ query: NotificationHistoryQuery, after token: String?) -> Self {
        APICall(
            .notificationHistory, .post, ["inApps", "v1", "notifications", "history"],
            query: token.map { [(name: "paginationToken", value: $0)] } ?? [], body: query.body
        ) { answer throws(AnswerError) in
            // One unreadable entry must not block the others, now or in later runs.
            let (items, otherCount) = try answer.knownObjects("notificationHistory")
            let notifications = items.compactMap { try? SentNotification($0) }
            let next =
                try answer.bool("hasMore") ? String(decoding: answer.text("paginationToken"), as: UTF8.self) : nil
            return NotificationHistoryPage(
                notifications: notifications, unreadableCount: otherCount + items.count - notifications.count,
                next: next)
        }
    }
}

extension APICall<String> {
    /// Creates a request for a test notification. The answer is a token for ``testNotificationStatus(_:)``.
    package static func testNotification() -> Self {
        APICall(.testNotification, .post, ["inApps", "v1", "notifications", "test"]) { answer throws(AnswerError) in
            String(decoding: try answer.text("testNotificationToken"), as: UTF8.self)
        }
    }
}

extension APICall<SentNotification> {
    /// Creates a Get Test Notification Status request.
    package static func testNotificationStatus(_ token: String) -> Self {
        APICall(
            .testNotificationStatus, .get, ["inApps", "v1", "notifications", "test", token], read: SentNotification.init
        )
    }
}

extension SentNotification {
    fileprivate init(_ answer: AnswerReader) throws(AnswerError) {
        signedPayload = try answer.text("signedPayload")
        var attempts: [Attempt] = []
        for attempt in try answer.objects("sendAttempts") {
            attempts.append(
                Attempt(
                    date: Timestamp(milliseconds: try attempt.integer("attemptDate")),
                    result: String(decoding: try attempt.text("sendAttemptResult"), as: UTF8.self)))
        }
        self.attempts = attempts
    }
}
