import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferHTTP
import SubscriberStore
import SubscriberSync

/// `POST /v1/offers/events`: what became of offers in an app, for reports and for limits of prompts.
struct OfferEventsEndpoint: Sendable {
    let store: CurrentStore
    let metrics: ServiceMetrics
    let now: @Sendable () -> Timestamp
    /// The limit on requests that wait for the database.
    private let limit = LaneLimit(8)

    init(store: CurrentStore, metrics: ServiceMetrics, now: @escaping @Sendable () -> Timestamp) {
        self.store = store
        self.metrics = metrics
        self.now = now
    }

    var handler: Endpoint.Handler {
        .later(limit: limit) { request, admission async throws(Problem) in
            let user = admission.principal.customer
            let members = try admission.members(of: request, maximumCount: OfferEventsRequest.maximumCount)
            let body = try OfferEventsRequest(members, user: user, at: now())
            let app = try admission.app(body.bundleID)
            let scope = AppScope(bundleID: body.bundleID, environment: try Self.environment(of: body, app))
            let events: [OfferEvent]
            do throws(StoreError) {
                events = try await store.record(
                    try await resolved(body.reports.filter { $0.isConfigured(in: app) }, in: scope, app),
                    of: scope, onlyOf: user.map(CustomerIdentifier.init))
            } catch { throw Problem(error) }
            for event in events { metrics.reported(event, of: body.bundleID) }
            // The answer does not tell which signatures exist.
            return .noContent
        }
    }

    /// Names the customer of each report as exposures do, so that both can be compared.
    private func resolved(
        _ reports: [OfferEventReport], in scope: AppScope, _ app: Catalogue.App
    ) async throws(StoreError) -> [OfferEventReport] {
        var names: [CustomerIdentifier: CustomerIdentifier] = [:]
        var resolved: [OfferEventReport] = []
        for report in reports {
            guard case .named(let account, let productID, let offerID) = report.offer else {
                resolved.append(report)
                continue
            }
            if names[account] == nil { names[account] = try await name(of: account, in: scope, app) }
            resolved.append(
                OfferEventReport(
                    kind: report.kind, offer: .named(names[account] ?? account, productID, offerID), at: report.at,
                    error: report.error))
        }
        return resolved
    }

    private func name(
        of account: CustomerIdentifier, in scope: AppScope, _ app: Catalogue.App
    ) async throws(StoreError) -> CustomerIdentifier {
        do throws(StoreError) {
            let stored = try await store.customers(
                known: account, bundleID: scope.bundleID, environment: scope.environment)
            return stored.first.flatMap { OwnedCustomer($0, known: account, by: app.ownership)?.recordedAs } ?? account
        } catch {
            // One unreadable customer must not lose the events of the others.
            guard error.kind == .unreadable else { throw error }
            return account
        }
    }

    /// Returns the requested environment, or production if the app has it.
    private static func environment(
        of body: OfferEventsRequest, _ app: Catalogue.App
    ) throws(Problem) -> AppStoreEnvironment {
        guard let environment = body.environment else {
            return app.environments.contains(.production) ? .production : app.environments.first ?? .production
        }
        guard app.environments.contains(environment) else {
            let names = app.environments.map(\.rawValue).sorted()
            throw .invalidField(FieldError(field: "environment", reason: .notOneOf(names)))
        }
        return environment
    }
}

extension OfferEventReport {
    /// True if the catalogue has the offer. Otherwise, an app could store any text.
    fileprivate func isConfigured(in app: Catalogue.App) -> Bool {
        switch offer {
        case .signed: true
        case .named(_, let productID, let offerID): app.offers[productID]?.contains(offerID) ?? false
        }
    }
}
