import OfferAudit
import OfferConfiguration
import OfferConsole
import OfferCore
import OfferEligibility
import OfferHTTP
import OfferService
import SubscriberStore
import SubscriberSync

/// `GET /grants` and its acts: grants are approved by a second person, and withdrawn.
struct GrantsPage: Sendable {
    let desk: GrantDesk
    let acts: ConsoleActs

    private static let maximumGrants = 50

    static let actFields = CustomerAddress.fields + [FormReader.Field("grant", maximumBytes: 36)]

    var routes: [ConsoleRoute] {
        let access = ConsoleRoute.Access.roles(ConsoleSection.grants.roles)
        return [
            .page("/grants", for: access, [], answer),
            .act("/grants/approve", for: access, Self.actFields, approve),
            .act("/grants/withdraw", for: access, Self.actFields, withdraw),
        ]
    }

    @Sendable private func answer(_ request: ConsoleRequest) async throws(ConsoleRefusal) -> ConsoleAnswer {
        guard let session = request.session else { throw .signIn(nil) }
        let opensCustomers = request.hasRole(in: .find)
        if opensCustomers { try await acts.record(.grants, request) }
        let apps = request.policy.catalogue?.apps ?? [:]
        let scopes = apps.flatMap { bundleID, app in
            app.environments.map { AppScope(bundleID: bundleID, environment: $0) }
        }
        func views(_ selection: GrantSelection) async throws(OfferService.Problem) -> [GrantView] {
            var found: [StoredGrant] = []
            for scope in scopes {
                found += try await desk.grants(in: scope, selection, limit: Self.maximumGrants).map {
                    StoredGrant(app: scope, grant: $0)
                }
            }
            var views: [GrantView] = []
            for stored in found.sorted(by: { $0.grant.at > $1.grant.at }).prefix(Self.maximumGrants) {
                views.append(
                    GrantView(
                        stored, try await desk.state(of: stored, at: request.now),
                        for: OfferGrant.Person(session.account),
                        opensCustomers: opensCustomers))
            }
            return views
        }
        do throws(OfferService.Problem) {
            let view = GrantsView(
                frame: request.frame(at: PageAddress("/grants")), now: request.now,
                waiting: try await views(.awaitingApproval(at: request.now)), latest: try await views(.all),
                isConfigured: apps.values.contains { $0.rules.grants != nil })
            return .page(view.html)
        } catch { throw request.unavailable }
    }

    @Sendable private func approve(_ request: ConsoleRequest) async throws(ConsoleRefusal) -> ConsoleAnswer {
        try await act(.grantApproval, request) { stored, act async throws(OfferService.Problem) in
            try await desk.approve(stored, of: request.policy.catalogue?.apps[stored.app.bundleID], act)
        }
    }

    @Sendable private func withdraw(_ request: ConsoleRequest) async throws(ConsoleRefusal) -> ConsoleAnswer {
        try await act(.grantWithdrawal, request) { stored, act async throws(OfferService.Problem) in
            try await desk.withdraw(stored.grant.id, act)
        }
    }

    /// The page of the customer, if the form comes from there.
    private func pageAfter(_ request: ConsoleRequest) throws(ConsoleRefusal) -> PageAddress {
        guard request.values["kind"] != nil else { return PageAddress("/grants") }
        let address = try CustomerAddress(request.values)
        _ = try request.app(address.app.bundleID)
        return address.page
    }

    private func act(
        _ kind: ConsoleAct.Kind, _ request: ConsoleRequest,
        _ change: (StoredGrant, OfferGrant.Act) async throws(OfferService.Problem) -> StoredGrant
    ) async throws(ConsoleRefusal) -> ConsoleAnswer {
        guard let session = request.session else { throw .signIn(nil) }
        guard let id = UUIDText(parsing: Array((request.values["grant"] ?? "").utf8)) else {
            throw .problem(.badRequest("The field grant is not the ID of a grant."))
        }
        let back = try pageAfter(request)
        do throws(OfferService.Problem) {
            let stored = try await desk.grant(id)
            _ = try await acts.record(kind, of: stored, by: session.account, request) {
                () async throws(OfferService.Problem) in
                try await change(stored, OfferGrant.Act(by: OfferGrant.Person(session.account), at: request.now))
            }
            return .redirect(back)
        } catch { throw request.refusal(error) }
    }
}

extension ConsoleActs {
    /// Makes a change to a grant after its line is durable.
    func record<Result: Sendable>(
        _ kind: ConsoleAct.Kind, of stored: StoredGrant, by account: ConsoleAccount, _ request: ConsoleRequest,
        _ change: () async throws(OfferService.Problem) -> Result
    ) async throws(OfferService.Problem) -> Result {
        let act = ConsoleAct(
            kind, by: account.name, subject: account.subject, in: stored.app.environment,
            grant: AuditedGrant(stored.grant))
        return try await AuditedChanges(trail).make(
            { outcome in
                [entry(act, request, stored.item, customer: stored.grant.subject.customer?.utf8, outcome)]
            }, change)
    }
}

extension ConsoleRequest {
    /// The refusal of an act on grants.
    func refusal(_ problem: OfferService.Problem) -> ConsoleRefusal {
        switch problem.status {
        case 503: unavailable
        case 404: .problem(.notFound)
        default: .problem(.badRequest(problem.detail))
        }
    }
}
