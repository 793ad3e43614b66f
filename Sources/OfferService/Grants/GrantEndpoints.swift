package import OfferAudit
package import OfferCore
package import OfferEligibility
import OfferHTTP
package import SubscriberStore

/// The routes under `/v1/grants`.
///
/// Each act is recorded in the audit trail before it takes effect.
struct GrantEndpoints: Sendable {
    let desk: GrantDesk
    private let changes: AuditedChanges
    let now: @Sendable () -> Timestamp
    private let limit = LaneLimit(64)

    /// The maximum number of grants in an answer.
    static let maximumCount = 100

    init(desk: GrantDesk, trail: AuditTrail?, now: @escaping @Sendable () -> Timestamp) {
        self.desk = desk
        changes = AuditedChanges(trail)
        self.now = now
    }

    /// `/v1/grants`: POST makes a grant, GET lists grants, DELETE withdraws one.
    var grants: Endpoint.Handler {
        .later(limit: limit) { request, admission async throws(Problem) in
            switch request.method {
            case "POST": try await make(request, admission)
            case "DELETE": try await withdraw(request, admission)
            default: try await list(request, admission)
            }
        }
    }

    /// `POST /v1/grants/approve`.
    var approval: Endpoint.Handler {
        .later(limit: limit) { request, admission async throws(Problem) in
            let stored = try await grant(in: request, admission)
            let act = OfferGrant.Act(by: person(admission), at: now())
            let app = try admission.app(stored.app.bundleID)
            let approved = try await record(.grantApproval, stored, admission) { () async throws(Problem) in
                try await desk.approve(stored, of: app, act)
            }
            return try await answer(approved, admission)
        }
    }

    private func make(_ request: HTTPRequest, _ admission: Admission) async throws(Problem) -> HTTPResponse {
        let order = try GrantOrder(admission.members(of: request))
        let app = try admission.app(order.customer.bundleID)
        guard !order.liftsLimits || admission.principal.has(.grantLimits) else { throw .scopeMissing(.grantLimits) }
        let prepared = try await desk.prepare(order, by: person(admission), of: app, at: now())
        let stored = StoredGrant(app: prepared.app, grant: prepared.grant)
        let made = try await record(.grant, stored, admission) { () async throws(Problem) in
            try await desk.make(prepared)
        }
        return try await answer(StoredGrant(app: prepared.app, grant: made), admission)
    }

    private func withdraw(_ request: HTTPRequest, _ admission: Admission) async throws(Problem) -> HTTPResponse {
        let stored = try await grant(in: request, admission)
        let act = OfferGrant.Act(by: person(admission), at: now())
        let withdrawn = try await record(.grantWithdrawal, stored, admission) { () async throws(Problem) in
            try await desk.withdraw(stored.grant.id, act)
        }
        return try await answer(withdrawn, admission)
    }

    private func list(_ request: HTTPRequest, _ admission: Admission) async throws(Problem) -> HTTPResponse {
        let query = try GrantQuery(admission.members(of: request))
        let app = try admission.app(query.bundleID)
        var environments = app.environments.sorted { $0.rawValue < $1.rawValue }
        if let environment = query.environment { environments = environments.filter { $0 == environment } }
        var found: [StoredGrant] = []
        for environment in environments {
            let scope = AppScope(bundleID: query.bundleID, environment: environment)
            found += try await desk.grants(
                in: scope, query.isWaiting ? .awaitingApproval(at: now()) : .all, before: query.before,
                limit: Self.maximumCount
            ).map { StoredGrant(app: scope, grant: $0) }
        }
        var described: [(StoredGrant, OfferGrant.State)] = []
        for stored in found.sorted(by: { $0.grant.at > $1.grant.at }).prefix(Self.maximumCount) {
            described.append((stored, try await desk.state(of: stored, at: now())))
        }
        var writer = JSONWriter()
        writer.objects("grants", described) { writer, described in
            described.0.write(to: &writer, described.1, showsCustomer: showsCustomer(described.0, admission))
        }
        return HTTPResponse(body: writer.finish())
    }

    /// Returns the grant that a request names, if the caller may use its app.
    private func grant(in request: HTTPRequest, _ admission: Admission) async throws(Problem) -> StoredGrant {
        let id: UUIDText
        let reader = MemberReader(try admission.members(of: request, namesApp: false))
        do throws(MemberError) {
            try reader.refuseOthers(than: ["id"])
            id = try reader.field("id") { utf8, name throws(FieldError) in
                guard let id = UUIDText(parsing: utf8) else { throw FieldError(field: name, reason: .notUUID) }
                return id
            }
        } catch { throw Problem(error) }
        let stored = try await desk.grant(id)
        guard admission.mayUse(stored.app.bundleID) else { throw .unknownGrant }
        return stored
    }

    private func person(_ admission: Admission) -> OfferGrant.Person { OfferGrant.Person(admission.client.name) }

    /// Returns true if a caller may see the customer of a grant, and what was written about the customer.
    private func showsCustomer(_ stored: StoredGrant, _ admission: Admission) -> Bool {
        admission.principal.has(.customers) || stored.grant.maker == person(admission)
    }

    private func answer(_ stored: StoredGrant, _ admission: Admission) async throws(Problem) -> HTTPResponse {
        var writer = JSONWriter()
        stored.write(
            to: &writer, try await desk.state(of: stored, at: now()), showsCustomer: showsCustomer(stored, admission))
        return HTTPResponse(body: writer.finish())
    }

    /// Makes a change to a grant after its line in the audit trail is durable.
    private func record<Result: Sendable>(
        _ kind: CustomerChange.Kind, _ stored: StoredGrant, _ admission: Admission,
        _ act: () async throws(Problem) -> Result
    ) async throws(Problem) -> Result {
        try await changes.make(
            { outcome in
                [
                    AuditEntry(
                        time: now(), requestID: admission.context.id.text, client: admission.client, kind, stored,
                        outcome)
                ]
            }, act)
    }
}

extension AuditEntry {
    /// Creates an entry for a change to a grant.
    package convenience init(
        time: Timestamp, requestID: String, client: Client, _ kind: CustomerChange.Kind, _ stored: StoredGrant,
        _ outcome: Outcome
    ) {
        self.init(
            time: time, requestID: requestID, client: client,
            change: CustomerChange(kind, in: stored.app.environment, grant: AuditedGrant(stored.grant)),
            item: stored.item, customer: stored.grant.subject.customer?.utf8 ?? [], outcome: outcome)
    }
}

extension StoredGrant {
    /// The granted offer.
    package var item: CatalogueItem {
        CatalogueItem(app: app.bundleID, product: grant.productID, offer: grant.offerID)
    }
}

/// The query of `GET /v1/grants`.
private struct GrantQuery {
    let bundleID: BundleID
    /// nil for all environments of the app.
    let environment: AppStoreEnvironment?
    /// True for only those grants that wait for approval.
    let isWaiting: Bool
    /// nil to begin with the newest.
    let before: Timestamp?

    init(_ members: JSONObject) throws(Problem) {
        do throws(MemberError) {
            let reader = MemberReader(members)
            try reader.refuseOthers(than: ["bundleID", "environment", "state", "before"])
            bundleID = try reader.field("bundleID", BundleID.init)
            environment = try reader.environment()
            isWaiting =
                try reader.optionalField("state") { utf8, name throws(FieldError) -> Bool in
                    let waiting = OfferGrant.State.awaitingApproval.rawValue
                    guard utf8.elementsEqual(waiting.utf8) else {
                        throw FieldError(field: name, reason: .notOneOf([waiting]))
                    }
                    return true
                } ?? false
            before = try reader.optionalField("before") { utf8, name throws(FieldError) in
                guard let number = Int64(String(decoding: utf8, as: UTF8.self)) else {
                    throw FieldError(field: name, reason: .notOneOf(["a number of milliseconds since 1970"]))
                }
                return Timestamp(milliseconds: number)
            }
        } catch { throw Problem(error) }
    }
}

extension StoredGrant {
    fileprivate func write(to writer: inout JSONWriter, _ state: OfferGrant.State, showsCustomer: Bool) {
        writer.member("bundleID", utf8: app.bundleID.text.utf8)
        writer.member("environment", app.environment.rawValue)
        if showsCustomer, let customer = grant.subject.customer { writer.member(customer) }
        grant.write(to: &writer, state, showsCustomer: showsCustomer)
    }
}

extension OfferGrant {
    /// Writes everything except the app and the identifier of the customer.
    /// - Parameter showsCustomer: false to omit what was written about the customer.
    func write(to writer: inout JSONWriter, _ state: State, showsCustomer: Bool) {
        writer.member("id", utf8: id.utf8)
        writer.member("productID", utf8: productID.text.utf8)
        writer.member("offerID", utf8: offerID.text.utf8)
        writer.member("state", state.rawValue)
        writer.member("reason", purpose.reason)
        if showsCustomer, let note = purpose.note { writer.member("note", note) }
        if showsCustomer, let ticket = purpose.ticket { writer.member("ticket", ticket) }
        writer.member("liftsLimits", liftsLimits)
        writer.member("madeBy", maker.name)
        writer.member("at", at.milliseconds)
        writer.member("expiresAt", expiresAt.milliseconds)
        if case .given(let act) = approval {
            writer.member("approvedBy", act.person.name)
            writer.member("approvedAt", act.at.milliseconds)
        }
        if let withdrawal {
            writer.member("withdrawnBy", withdrawal.person.name)
            writer.member("withdrawnAt", withdrawal.at.milliseconds)
        }
    }
}
