import AppStoreData
import Logging
import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferHTTP
import SubscriberStore
import SubscriberSync

/// `POST /v1/app-store-notifications`: receives the App Store's notifications.
///
/// ```
/// read ─▶ verify ─▶ check revocation ─▶ store (durable) ─▶ 200
/// ```
///
/// The route is public and takes no token: the signature of a notification authenticates its sender. 200 means that the
/// notification is stored. After any 4xx or 5xx, the App Store sends it again, for about six days.
struct NotificationEndpoint: Sendable {
    private let store: CurrentStore
    private let intake: NotificationIntake
    /// nil if the App Store is not queried.
    private let refresher: RefreshQueue?
    private let limits: RequestLimits
    private let metrics: SyncMetrics
    private let log: Logger
    private let limit = LaneLimit(maximumRequests)

    /// The maximum number of requests that are being verified, or wait for the database or an OCSP responder.
    private static let maximumRequests = 512

    init(
        store: CurrentStore, intake: NotificationIntake, refresher: RefreshQueue?, limits: RequestLimits,
        metrics: SyncMetrics, log: Logger
    ) {
        self.store = store
        self.intake = intake
        self.refresher = refresher
        self.limits = limits
        self.metrics = metrics
        self.log = log
    }

    var endpoint: Endpoint {
        var endpoint = Endpoint(
            path: "/v1/app-store-notifications", methods: ["POST"], access: .anyone,
            // The App Store has no token, and it waits an hour before it tries again.
            shedsLoad: .all,
            handler: .later(limit: limit) { request, admission async throws(Problem) in
                try await receive(request, under: admission.policy)
            })
        endpoint.maximumBodySize = NotificationBody.maximumSize
        return endpoint
    }

    private func receive(_ request: HTTPRequest, under policy: Policy) async throws(Problem) -> HTTPResponse {
        guard store.isConfigured else { throw .storeUnavailable }
        try limits.requireNotifier(request, under: policy)
        let reading: NotificationReader.Reading
        do {
            reading = try await read(request, under: policy)
        } catch {
            metrics.received(error.status == 503 ? .failed : .refused)
            if error.status != 503 { limits.chargeNotifier(request, under: policy) }
            throw error
        }
        let outcome = try await keep(reading, request, under: policy)
        if outcome == .known {
            // Anyone who has seen the notification can send it again, so receiving it says nothing about the sender.
            limits.chargeNotifier(request, under: policy)
        } else {
            // If memory or connections run short, this connection is closed only after those of strangers.
            request.standing?.note(.user)
            if let refresh = reading.unproven.flatMap({ RefreshRequest($0, in: reading.app) }) {
                refresher?.refreshLater(refresh)
            }
        }
        record(reading, outcome, request.context)
        var writer = JSONWriter()
        writer.member("notificationUUID", utf8: reading.notification.notificationUUID.utf8)
        writer.member("outcome", outcome == .known ? "known" : "stored")
        return HTTPResponse(body: writer.finish())
    }

    private func read(
        _ request: HTTPRequest, under policy: Policy
    ) async throws(Problem) -> NotificationReader.Reading {
        let members = try RequestMembers.read(
            request, maximumCount: NotificationBody.maximumCount, maximumTotal: NotificationBody.maximumTotal)
        let body: NotificationBody
        do throws(NotificationBodyError) { body = try NotificationBody(members) } catch { throw Problem(error) }
        do throws(DataRefusal) { return try await intake.read(body, under: policy) } catch {
            throw body.isRefusedWithoutReason(error) ? .sharedSecretRefused(error) : .notificationRefused(error)
        }
    }

    private func keep(
        _ reading: NotificationReader.Reading, _ request: HTTPRequest, under policy: Policy
    ) async throws(Problem) -> DeliveryOutcome {
        do throws(StoreError) {
            return try await intake.keep(reading, body: request.body, under: policy)
        } catch {
            metrics.received(.failed)
            throw .storeUnavailable
        }
    }

    private func record(
        _ reading: NotificationReader.Reading, _ outcome: DeliveryOutcome, _ context: RequestContext
    ) {
        let notification = reading.notification
        var metadata: Logger.Metadata = [
            "type": "\(notification.type.printable)", "app": "\(reading.app.bundleID.text)",
            "environment": "\(reading.app.environment.rawValue.printable)",
            "notificationUUID": "\(notification.notificationUUID)",
        ]
        if let subtype = notification.subtype { metadata["subtype"] = "\(subtype.printable)" }
        if outcome == .known {
            metrics.received(.known)
            return log.debug("notification known", metadata: context.metadata(metadata))
        }
        metrics.stored(notification, of: reading.app)
        metrics.received(reading.fault == nil ? .stored : .unusable)
        if let fault = reading.fault {
            metadata["reason"] = "\(fault)"
            metadata["hint"] = "the notification is kept; after an upgrade that can read it, run database rebuild"
            return log.warning(
                "notification stored, but its content cannot be used", metadata: context.metadata(metadata))
        }
        if reading.isUnknown { metadata["hint"] = "after an upgrade that can read it, run database rebuild" }
        if reading.isAppAssumed { metadata["isForwarded"] = "false, because it does not name the app" }
        let type = NotificationType(rawValue: notification.type)
        guard !reading.isUnknown || type == .unclaimSeats, NotificationType.known.contains(type) else {
            return log.warning("notification of an unknown kind stored", metadata: context.metadata(metadata))
        }
        log.log(level: type == .test ? .notice : .info, "notification stored", metadata: context.metadata(metadata))
    }
}
