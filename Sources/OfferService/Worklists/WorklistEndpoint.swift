import OfferCore
import OfferEligibility
import OfferHTTP
import SubscriberStore
import SubscriberSync

/// `POST /v1/customers/list`: the stored customers whom an offer, a failed payment or a higher price is about.
///
/// It reads some hundred subscriptions at a time and decides on threads that leave the cores to offers. So a list slows
/// down while the service is busy.
struct WorklistEndpoint: Sendable {
    let store: CurrentStore
    let now: @Sendable () -> Timestamp
    /// The lists that are read at the same time.
    private let limit = LaneLimit(2)

    init(store: CurrentStore, now: @escaping @Sendable () -> Timestamp) {
        self.store = store
        self.now = now
    }

    /// The number of customers after which a page ends.
    private static let pageSize = 500

    var handler: Endpoint.Handler {
        .later(limit: limit) { request, admission async throws(Problem) in
            let body = try WorklistRequest(admission.members(of: request))
            let app = try admission.app(body.bundleID)
            let environment = body.environment ?? app.firstEnvironment
            guard app.environments.contains(environment) else {
                throw .invalidField(
                    FieldError(field: "environment", reason: .notOneOf(app.environments.map(\.rawValue).sorted())))
            }
            let reader = WorklistReader(
                try body.worklist(of: app), of: AppScope(bundleID: body.bundleID, environment: environment), app,
                at: now())
            let page: WorklistReader.Page
            do throws(StoreError) {
                page = try await withTaskExecutorPreference(BackgroundThreads.shared.executor) {
                    () async throws(StoreError) in
                    try await reader.page(from: body.start, limit: Self.pageSize, in: store)
                }
            } catch { throw Problem(error) }
            var writer = JSONWriter()
            writer.member("environment", environment.rawValue)
            writer.objects("customers", page.customers) { $1.write(to: &$0) }
            if let next = page.next { writer.member("next", String(next)) }
            return HTTPResponse(body: writer.finish())
        }
    }
}
