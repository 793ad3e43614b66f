import OfferAudit
import OfferConfiguration
import OfferCore
import OfferEligibility
import OfferHTTP
import OfferTelemetry
import SubscriberStore
import SubscriberSync

/// The routes under `/v1/customers`. They show and erase everything that is known about a customer, and record facts
/// and links from callers.
///
/// Each change is recorded in the audit trail before it is made, so no change goes unrecorded.
struct CustomerEndpoints: Sendable {
    private let store: CurrentStore
    private let directory: CustomerDirectory
    private let changes: AuditedChanges
    private let metrics: ServiceMetrics
    private let now: @Sendable () -> Timestamp
    /// The limit on requests that wait for the database.
    private let limit = LaneLimit(256)

    /// - Parameter trail: nil if there is no audit trail.
    init(
        store: CurrentStore, directory: CustomerDirectory, trail: AuditTrail?, metrics: ServiceMetrics,
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.store = store
        self.metrics = metrics
        self.directory = directory
        changes = AuditedChanges(trail)
        self.now = now
    }

    /// `POST /v1/customers/lookup`.
    var lookup: Endpoint.Handler {
        .later(limit: limit) { request, admission async throws(Problem) in
            let members = try admission.members(of: request)
            guard members["orderID"] == nil else { return try await lookUp(OrderReference(members), admission) }
            let customer = try CustomerReference(members)
            let app = try admission.app(customer.bundleID)
            let found = try await directory.find(customer, of: app)
            return HTTPResponse(body: CustomerAnswer.body(found.customers, of: app, at: now()))
        }
    }

    /// Looks up the customer of an order, which only the App Store knows.
    private func lookUp(_ order: OrderReference, _ admission: Admission) async throws(Problem) -> HTTPResponse {
        let app = try admission.app(order.bundleID)
        let found = try await directory.find(order, of: app)
        return HTTPResponse(body: CustomerAnswer.body(found.customers, of: app, at: now()))
    }

    /// `PUT /v1/customers/facts`.
    var facts: Endpoint.Handler {
        .later(limit: limit) { request, admission async throws(Problem) in
            let members = try admission.members(of: request, maximumCount: CustomerFactsRequest.maximumCount)
            let customers = try CustomerFactsRequest(members).customers
            // All have the same app. In a list, all must be in one environment.
            guard let first = customers.first?.customer else { return .noContent }
            let app = try admission.app(first.bundleID)
            guard customers.count == 1 || first.environment != nil || app.environments.count == 1 else {
                throw .environmentNeeded
            }
            let scope = try await scope(of: first, app)
            let change = CustomerChange(.facts, in: scope.environment)
            try await make(change, of: customers.map(\.customer), admission) { store async throws(StoreError) in
                try await store.setTeamFacts(
                    customers.map(\.statement), in: scope, tracking: app.tracked, at: now())
            }
            metrics.factStatements.increment(by: customers.count)
            return .noContent
        }
    }

    /// `PUT /v1/customers/links`.
    var links: Endpoint.Handler {
        .later(limit: limit) { request, admission async throws(Problem) in
            let body = try CustomerLinkRequest(admission.members(of: request))
            let customer = body.customer
            let scope = try await scope(of: customer, admission.app(customer.bundleID))
            let change = CustomerChange(.link, in: scope.environment, account: body.account?.utf8)
            try await make(change, of: [customer], admission) { store async throws(StoreError) in
                // A username that is a UUID is its own token, and needs no link.
                guard body.account.map(CustomerIdentifier.init) != customer.identifier else { return }
                try await store.link(customer.identifier, to: body.account, in: scope, at: now())
            }
            return .noContent
        }
    }

    /// `DELETE /v1/customers`.
    var erasure: Endpoint.Handler {
        .later(limit: limit) { request, admission async throws(Problem) in
            let customer = try CustomerReference(admission.members(of: request))
            _ = try admission.app(customer.bundleID)
            let change = CustomerChange(.erasure, in: customer.environment)
            let erased = try await make(change, of: [customer], admission) { store async throws(StoreError) in
                try await Self.erase(customer, from: store)
            }
            return HTTPResponse(body: erased.body)
        }
    }

    // MARK: Store

    /// Returns the scope of a change. Its environment is the requested one, or the app's only one, or the only one in
    /// which the customer is known.
    private func scope(of customer: CustomerReference, _ app: Catalogue.App) async throws(Problem) -> AppScope {
        func scope(_ environment: AppStoreEnvironment) -> AppScope {
            AppScope(bundleID: customer.bundleID, environment: environment)
        }
        if let environment = customer.environment {
            guard app.environments.contains(environment) else {
                let names = app.environments.map(\.rawValue).sorted()
                throw .invalidField(FieldError(field: "environment", reason: .notOneOf(names)))
            }
            return scope(environment)
        }
        if app.environments.count == 1, let only = app.environments.first { return scope(only) }
        let known = try await directory.stored(customer).map(\.app.environment).filter(app.environments.contains)
        guard let only = known.first, known.count == 1 else { throw .environmentNeeded }
        return scope(only)
    }

    /// Erases a customer in the requested environment, or in all environments, even those that the app no longer has.
    private static func erase(
        _ customer: CustomerReference, from store: any SubscriberStore
    ) async throws(StoreError) -> Erased {
        var erased = Erased()
        for environment in customer.environment.map({ [$0] }) ?? AppStoreEnvironment.known {
            let app = AppScope(bundleID: customer.bundleID, environment: environment)
            erased.add(try await store.erase(customer.identifier, in: app))
        }
        return erased
    }

    // MARK: Changes

    /// Makes a change after its lines in the audit trail, one for each customer, are durable.
    private func make<Result: Sendable>(
        _ change: CustomerChange, of customers: [CustomerReference], _ admission: Admission,
        _ apply: (any SubscriberStore) async throws(StoreError) -> Result
    ) async throws(Problem) -> Result {
        func entries(_ outcome: AuditEntry.Outcome) -> [AuditEntry] {
            customers.map { customer in
                AuditEntry(
                    time: now(), requestID: admission.context.id.text, client: admission.client, change: change,
                    app: customer.bundleID, customer: customer.identifier.utf8, outcome: outcome)
            }
        }
        return try await changes.make(entries) { () throws(Problem) in
            guard store.store != nil else { throw Problem(store.fault ?? .notConfigured) }
        } _: { () async throws(Problem) in
            do throws(StoreError) { return try await store.write(apply) } catch { throw Problem(error) }
        }
    }
}

/// The number of items removed by an erasure, in all environments together.
private struct Erased {
    private var subscriptions = 0
    private var payloads = 0

    mutating func add(_ erasure: Erasure) {
        subscriptions += erasure.subscriptions
        payloads += erasure.payloads
    }

    var body: [UInt8] {
        var writer = JSONWriter()
        writer.member("subscriptions", Int64(subscriptions))
        writer.member("payloads", Int64(payloads))
        return writer.finish()
    }
}
