import OfferAudit
import OfferCore
import OfferEligibility
import OfferHTTP
import SubscriberStore
import SubscriberSync

/// `POST /v1/customers/list`: the stored customers whom an offer, a failed payment or a higher price is about.
///
/// It reads some hundred subscriptions at a time and decides about them on threads that leave the cores to offers. So a list
/// slows down while the service is busy.
struct WorklistEndpoint: Sendable {
    let store: CurrentStore
    let now: @Sendable () -> Timestamp
    private let changes: AuditedChanges
    private let metrics: ServiceMetrics
    /// The lists that are read at the same time.
    private let limit = LaneLimit(2)

    /// - Parameter trail: nil if there is no audit trail.
    init(store: CurrentStore, trail: AuditTrail?, metrics: ServiceMetrics, now: @escaping @Sendable () -> Timestamp) {
        self.store = store
        self.metrics = metrics
        self.now = now
        changes = AuditedChanges(trail)
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
            let list = try body.worklist(of: app)
            guard body.since == nil || !app.events.receivers.isEmpty else { throw .needsEvents }
            let reader = WorklistReader(
                list, since: body.since, of: AppScope(bundleID: body.bundleID, environment: environment), app, at: now()
            )
            let page: WorklistReader.Page
            if body.start == nil {
                let item = CatalogueItem(
                    app: body.bundleID, product: list.offer?.productID, offer: list.offer?.offerID)
                page = try await changes.make({ outcome in
                    [
                        AuditEntry(
                            time: now(), requestID: admission.context.id.text, client: admission.client,
                            listIn: environment, item: item, outcome: outcome)
                    ]
                }) { () async throws(Problem) in try await read(reader, from: nil) }
            } else {
                page = try await read(reader, from: body.start)
            }
            metrics.listed(page.customers.count, on: list)
            var writer = JSONWriter()
            writer.member("environment", environment.rawValue)
            writer.objects("customers", page.customers) { $1.write(to: &$0) }
            if let next = page.next { writer.member("next", String(next)) }
            return HTTPResponse(body: writer.finish())
        }
    }

    private func read(
        _ reader: WorklistReader, from start: Int64?
    ) async throws(Problem) -> WorklistReader.Page {
        do throws(StoreError) {
            return try await BackgroundThreads.shared.reading.run {
                () async throws(StoreError) in try await reader.page(from: start, limit: Self.pageSize, in: store)
            }
        } catch { throw Problem(error) }
    }
}
