package import OfferCore

extension SQLStore {
    package func claimDueSubscriptions(
        of app: AppScope, dueBefore time: Timestamp, nextDueAt: Timestamp, limit: Int
    ) async throws(StoreError) -> [DueSubscription] {
        try await write(.names([.checks(app)])) { db in
            guard let id = try AppTable.id(of: app, db) else { return [] }
            return try SubscriptionTable.due(before: time, id, limit: limit, db).compactMap { id, original, dueAt in
                guard try SubscriptionTable.moveCheck(id, from: dueAt, to: nextDueAt, db) else { return nil }
                return DueSubscription(
                    app: app, originalTransactionID: original, dueAt: dueAt, nextDueAt: nextDueAt)
            }
        }
    }

    package func settle(_ claims: [SettledClaim]) async throws(StoreError) {
        let names = claims.map { LockName.subscription($0.claim.originalTransactionID, $0.claim.app) }
        try await write(.names(Set(names))) { db in
            for settled in claims {
                let claim = settled.claim
                guard let app = try AppTable.id(of: claim.app, db),
                    let id = try SubscriptionTable.id(of: claim.originalTransactionID, app, db)
                else { continue }
                try SubscriptionTable.moveCheck(id, from: claim.nextDueAt, to: settled.dueAt, db)
            }
        }
    }

    package func countDueSubscriptions(
        of app: AppScope, dueBefore time: Timestamp, limit: Int
    ) async throws(StoreError) -> Int {
        try await read { db in
            guard let id = try AppTable.id(of: app, db) else { return 0 }
            return Int(try SubscriptionTable.countDue(before: time, id, limit: limit, db))
        }
    }

    package func recoveryCheckpoint(of app: AppScope) async throws(StoreError) -> Timestamp? {
        try await read { db in try AppTable.recoveryCheckpoint(of: app, db) }
    }

    package func setRecoveryCheckpoint(
        _ time: Timestamp, of app: AppScope, at now: Timestamp
    ) async throws(StoreError) {
        try await write(.nothing) { db in
            try AppTable.setRecoveryCheckpoint(time, AppTable.makeID(of: app, db), at: now, db)
        }
    }
}
