import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferHTTP
import SubscriberStore
import SubscriberSync

/// `POST /v1/offers/events`: what became of offers in an app, for reports and for limits of prompts.
struct OfferEventsEndpoint: Sendable {
    let store: CurrentStore
    let limits: RequestLimits
    let metrics: ServiceMetrics
    let now: @Sendable () -> Timestamp
    /// The limit on requests that wait for the database.
    private let limit = LaneLimit(64)

    init(store: CurrentStore, limits: RequestLimits, metrics: ServiceMetrics, now: @escaping @Sendable () -> Timestamp)
    {
        self.store = store
        self.limits = limits
        self.metrics = metrics
        self.now = now
    }

    var handler: Endpoint.Handler {
        .later(limit: limit) { request, admission async throws(Problem) in
            let user = admission.principal.customer
            let members = try admission.members(of: request, maximumCount: OfferEventsRequest.maximumCount)
            let body = try OfferEventsRequest(members, user: user, at: now())
            let app = try admission.app(body.bundleID)
            try limits.countList(
                of: body.reports.count, admission.principal, under: admission.policy.limits, admission.context)
            let events: [OfferEvent]
            do throws(StoreError) {
                events = try await store.record(
                    body.reports, of: body.bundleID, in: Self.environment(of: body, app),
                    onlyOf: user.map(CustomerIdentifier.init))
            } catch { throw Problem(error) }
            for event in events { metrics.reported(event, of: body.bundleID) }
            // The answer does not tell which signatures exist.
            return .noContent
        }
    }

    /// Returns the requested environment, or production if the app has it.
    private static func environment(of body: OfferEventsRequest, _ app: Catalogue.App) -> AppStoreEnvironment {
        if let environment = body.environment { return environment }
        return app.environments.contains(.production) ? .production : app.environments.first ?? .production
    }
}
