package import OfferCore
package import OfferEligibility

extension SQLStore {
    package func reserve(_ request: LedgerRequest) async throws(StoreError) -> [LedgerResult] {
        guard !request.changesNothing else { return try await read { db in try Self.answers(to: request, db) } }
        return try await write(.names(request.lockNames)) { db in
            let app = try AppTable.makeID(of: request.app, db)
            if let claim = request.claim {
                let nonces = request.offers.flatMap(\.nonces)
                guard try IdempotentRequestTable.note(nonces, app, under: claim, db) else {
                    return request.offers.map { _ in .takenOver }
                }
            }
            if !request.facts.isEmpty { _ = try FactMerge(db: db, app: app).merge(request.facts) }
            var check = try LedgerCheck(request, app, db)
            return try check.answers()
        }
    }

    package func check(_ requests: [LedgerRequest]) async throws(StoreError) -> [[LedgerResult]] {
        precondition(requests.allSatisfy(\.changesNothing), "a check changes nothing")
        return try await read { db in try requests.map { try Self.answers(to: $0, db) } }
    }

    /// Answers a request that changes nothing.
    private static func answers(to request: LedgerRequest, _ db: any Database) throws -> [LedgerResult] {
        // An unknown app has no entries.
        guard let app = try AppTable.id(of: request.app, db) else { return request.offers.map { _ in .allowed } }
        var check = try LedgerCheck(request, app, db)
        return try check.answers()
    }

    package func withdraw(_ nonces: [Nonce], in app: AppScope) async throws(StoreError) {
        try await write(.nothing) { db in
            guard let app = try AppTable.id(of: app, db) else { return }
            for nonce in nonces { try AuthorisationTable.withdraw(nonce, app, db) }
        }
    }

    package func ledgerEntries(
        of holders: [CustomerIdentifier], in app: AppScope
    ) async throws(StoreError) -> LedgerEntries {
        try await read { db in
            guard let id = try AppTable.id(of: app, db) else { return LedgerEntries() }
            let held = try AuthorisationTable.held(by: holders, id, db).sorted { $0.id < $1.id }
            let subscriptions = try LedgerCheck.subscriptions(of: holders, id, db)
            let redemptions = try RedemptionTable.all(by: subscriptions, explainedBy: held.map(\.id), app, db)
            return LedgerEntries(
                authorisations: held.map(\.authorisation), redemptions: redemptions.sorted { $0.number < $1.number },
                holders: try held.map { try AuthorisationTable.personalHolders(of: $0.id, db) })
        }
    }

    package func beginLedger(_ coverage: LedgerCoverage, at now: Timestamp) async throws(StoreError) {
        try await write(.everything) { db in try LedgerCoverageTable.begin(coverage, at: now, db) }
    }

    package func sampleSizes() async throws(StoreError) -> [SampleSize] {
        try await read { db in try SampleSizeTable.all(db) }
    }

    package func unexplainedRedemptions(
        in apps: Set<AppScope>, limit: Int
    ) async throws(StoreError) -> [LedgerRedemption] {
        try await read { db in
            let found = try apps.flatMap { app in
                guard let id = try AppTable.id(of: app, db) else { return [LedgerRedemption]() }
                return try LedgerCoverageTable.coveredOffers(of: id, db).flatMap { offer in
                    try RedemptionTable.unexplained(offer, app, id, limit: limit, db)
                }
            }
            return Array(found.sorted { ($0.at, $0.number) < ($1.at, $1.number) }.prefix(limit))
        }
    }

    package func acknowledge(_ acknowledgement: Acknowledgement) async throws(StoreError) -> Bool {
        try await write(.nothing) { db in try RedemptionTable.acknowledge(acknowledgement, db) }
    }

    package func acknowledgedRedemptions(
        in apps: Set<AppScope>, limit: Int
    ) async throws(StoreError) -> [AcknowledgedRedemption] {
        try await read { db in try RedemptionTable.acknowledged(in: apps, limit: limit, db) }
    }

    package func redemptions(after number: Int64, limit: Int) async throws(StoreError) -> [LedgerRedemption] {
        try await read { db in try RedemptionTable.all(after: number, limit: limit, db) }
    }

    package func lastRedemption() async throws(StoreError) -> Int64 {
        try await read { db in try RedemptionTable.last(db) }
    }
}

extension LedgerRequest {
    /// The names that the request locks: those of its facts, its holders, its offers with a total limit, its grants and its
    /// key.
    var lockNames: Set<LockName> {
        ChangeScope.facts(facts, app)
            .union(holders.map { .identifier($0, app) })
            .union(offers.filter { $0.limits.total != nil }.map { .total($0.productID, $0.offerID, app) })
            .union(offers.compactMap(\.grant).map(LockName.grant))
            .union(claim.map { [.keyed($0.request)] } ?? [])
    }
}
