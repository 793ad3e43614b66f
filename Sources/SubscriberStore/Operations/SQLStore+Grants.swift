package import OfferCore
package import OfferEligibility

extension SQLStore {
    package func make(_ request: GrantRequest) async throws(StoreError) -> GrantResult {
        let names = Set(request.names.map { LockName.identifier($0, request.app) })
        return try await write(.names(names.union([.grants(request.app)]))) { db in
            let app = try AppTable.makeID(of: request.app, db)
            let new = request.grant
            if let known = try GrantTable.grant(new.id, app, db) { return .made(known) }
            let subscriptions = try LedgerCheck.subscriptions(of: request.holders, app, db)
            let held = try AuthorisationTable.held(by: request.holders, app, db).map(\.id)
            let redemptions = try RedemptionTable.all(by: subscriptions, explainedBy: held, request.app, db)
            let others = try db.rows(GrantTable.all(of: request.names, app)).joined().map(GrantTable.grant)
            let usable = others.first { other in
                other.campaign == nil && other.isAbout(new.productID, new.offerID) && other.mayBeFor(request.accounts)
                    && other.withdrawal == nil && new.at < other.expiresAt
                    && !redemptions.contains { $0.uses(other) }
            }
            if let usable { return .exists(usable) }
            let count = try GrantTable.count(by: new.maker, since: request.budgetStart, app, db)
            let grant = count < request.budget ? new : new.awaitingApproval
            try GrantTable.add(grant, app, db)
            if let customer = grant.subject.customer { try CustomerSearch.markReviews(of: customer, app, db) }
            return .made(grant)
        }
    }

    package func approve(_ id: UUIDText, _ act: OfferGrant.Act) async throws(StoreError) -> GrantChange {
        try await write(.names([.grant(id)])) { db in
            guard let stored = try GrantTable.stored(id, db) else { return .unknown }
            let grant = stored.grant
            // The change is repeated if the answer to the first COMMIT was lost.
            if grant.approval == .given(act) { return .done(stored) }
            guard grant.approval == .needed, grant.withdrawal == nil, act.at < grant.expiresAt else {
                return .tooLate(grant)
            }
            guard !grant.maker.mayBe(act.person) else { return .samePerson }
            try GrantTable.approve(id, act, db)
            try Self.review(stored, db)
            return try GrantTable.stored(id, db).map(GrantChange.done) ?? .unknown
        }
    }

    package func withdraw(_ id: UUIDText, _ act: OfferGrant.Act) async throws(StoreError) -> GrantChange {
        try await write(.names([.grant(id)])) { db in
            guard let stored = try GrantTable.stored(id, db) else { return .unknown }
            if stored.grant.withdrawal == act { return .done(stored) }
            guard stored.grant.withdrawal == nil, act.at < stored.grant.expiresAt else { return .tooLate(stored.grant) }
            try GrantTable.withdraw(id, act, db)
            try Self.review(stored, db)
            return try GrantTable.stored(id, db).map(GrantChange.done) ?? .unknown
        }
    }

    private static func review(_ stored: StoredGrant, _ db: any Database) throws {
        guard let customer = stored.grant.subject.customer, let app = try AppTable.id(of: stored.app, db) else {
            return
        }
        try CustomerSearch.markReviews(of: customer, app, db)
    }

    package func grant(_ id: UUIDText) async throws(StoreError) -> StoredGrant? {
        try await read { db in try GrantTable.stored(id, db) }
    }

    package func grants(
        in app: AppScope, _ selection: GrantSelection, before time: Timestamp?, limit: Int
    ) async throws(StoreError) -> [OfferGrant] {
        try await read { db in
            guard let app = try AppTable.id(of: app, db) else { return [] }
            return try GrantTable.all(selection, before: time, limit: limit, app, db)
        }
    }

    package func grantsMade(
        by person: OfferGrant.Person, in app: AppScope, since time: Timestamp
    ) async throws(StoreError) -> Int {
        try await read { db in
            guard let app = try AppTable.id(of: app, db) else { return 0 }
            return try GrantTable.count(by: person, since: time, app, db)
        }
    }
}

extension OfferGrant {
    /// The same new grant, but above the budget.
    fileprivate var awaitingApproval: OfferGrant {
        OfferGrant(
            id: id, subject: subject, account: account, productID: productID, offerID: offerID, purpose: purpose,
            liftsLimits: liftsLimits, maker: maker, at: at, expiresAt: expiresAt, approval: .needed)
    }
}
